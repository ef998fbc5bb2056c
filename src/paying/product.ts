import { Validator } from '@cfworker/json-schema';
import { isObject, type JsonObject, tryParseJson } from '../model/json.ts';
import type { AnswerField, Conformity, UnrecognisedReason } from '../model/payment.ts';
import { cutText } from '../model/text.ts';

/** A route's own statements about its product. */
export interface DeclaredProduct {
  mime_type: string | null;
  output_schema: JsonObject | null;
}

/** An answer with status 2xx and a body, and the declarations of its route. */
export interface JudgedAnswer {
  content_type: string | null;
  /** The whole body, or its beginning. */
  body: Uint8Array;
  is_whole: boolean;
  /** The product as the catalogue shows it, from any source. `conforming` compares with this. */
  declared: DeclaredProduct;
  /**
   * The product as the provider itself declares it, one entry for each document. Only this can make an answer
   * unrecognised.
   */
  own: readonly DeclaredProduct[];
}

/** The judgement of an answer. */
export interface Judgement {
  /** Reason why the answer is not recognised as the product; null if it is. */
  unrecognised: UnrecognisedReason | null;
  conforming: Conformity;
  fields: AnswerField[] | null;
}

/** Largest body that is judged as a whole, and length of the beginning that is judged of a larger one, in bytes. */
export const MAX_BODY = 1024 * 1024;
export const BODY_START = 64 * 1024;

/**
 * Judges an answer in steps: first by its own content, then by the provider's schemas, last by the product in the
 * catalogue. If the time runs out, the judgement so far is valid: a later step only adds to it. Pure. It runs in a
 * thread with limits, because a hostile schema can make it slow.
 */
export function* judgeProduct({ own, declared, ...given }: JudgedAnswer): Generator<Judgement> {
  const answer = readAnswer(given);
  const byWords: Judgement = {
    unrecognised: findUnrecognisedReason(answer, own),
    conforming: hasOtherExactType(answer, declared) ? 'no' : 'undeclared',
    fields: answer.json === undefined ? null : listFields(answer.json),
  };
  yield byWords;
  const unrecognised = byWords.unrecognised ?? (contradictsAll(answer, own) ? 'schema_contradicted' : null);
  yield { ...byWords, unrecognised };
  yield { ...byWords, unrecognised, conforming: getConformity(answer, declared) };
}

/** Reads a media type from a seller's header: lower case, without parameters; null if it is invalid. */
export function readMediaType(text: string | null): string | null {
  const type = text?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type.length <= 100 && /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : null;
}

interface ReadAnswer {
  type: string | null;
  text: string;
  /** Undefined if the body is not JSON, or too large to be parsed. */
  json: unknown;
  is_whole: boolean;
}

function readAnswer({ content_type, body, is_whole }: Pick<JudgedAnswer, 'content_type' | 'body' | 'is_whole'>) {
  const text = new TextDecoder().decode(body);
  return { type: readMediaType(content_type), text, json: is_whole ? tryParseJson(text) : undefined, is_whole };
}

function findUnrecognisedReason(answer: ReadAnswer, own: readonly DeclaredProduct[]): UnrecognisedReason | null {
  const { type, text, json, is_whole } = answer;
  if (text.trim() === '' || isEmpty(json)) return 'empty';
  if (isObject(json) && 'x402Version' in json && Array.isArray(json.accepts)) return 'asks_again';
  if (isErrorAnswer(answer)) return 'error_in_body';
  const types = own.flatMap(({ mime_type }) => readMediaRange(mime_type) ?? []);
  if (isPage(answer) && !types.some((declared) => isSameMedia('text/html', declared))) return 'html_page';
  if (is_whole && json === undefined && isJsonType(type)) return 'not_json';
  if (types.length > 0 && own.every((product) => hasOtherMediaType(answer, product))) return 'other_media_type';
  return null;
}

// Judging by the content

/** Returns whether a value is empty. An empty list inside an object is an answer: nothing was found. */
function isEmpty(json: unknown): boolean {
  if (isObject(json)) {
    const members = Object.entries(json);
    return members.every(([name, value]) => WRAPPERS.has(getWord(name)) && !Array.isArray(value) && isNothing(value));
  }
  return json !== undefined && isNothing(json);
}

function isNothing(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

function isErrorAnswer({ type, text, json }: ReadAnswer): boolean {
  if (type === 'application/problem+json' || type === 'application/problem+xml') return true;
  if (json !== undefined) return readMeaning(json, 0) === 'error';
  if (/^\s*(?:<\?xml[^>]{0,200}\?>\s*)?<(?:\w{1,20}:)?(?:errors?|errorresponse|exception|fault)[\s/>]/i.test(text)) {
    return true;
  }
  const title = isPage({ type, text, json }) && /<title[^>]{0,200}>([^<]{0,300})</i.exec(text.slice(0, 4_000))?.[1];
  return isErrorText(text) || (typeof title === 'string' && isErrorText(title));
}

/** Texts that consist only of the usual words of an error. */
const ERROR_PHRASES = [
  'internal (server )?error',
  '(bad|unknown|server|unexpected|application|proxy) error',
  'bad gateway',
  'bad request',
  '(service )?(temporarily )?unavailable',
  'service temporarily unavailable',
  '(gateway|request|upstream) time-?d?[ -]?out',
  'endpoint request timed out',
  '(page |route |resource )?not found',
  'forbidden',
  'unauthori[sz]ed',
  'not authenticated',
  'access denied',
  'missing authentication token',
  'invalid api key',
  'method not allowed',
  'not implemented',
  'payment required',
  'too many requests',
  'rate limit(ed| exceeded)',
  '(an )?error',
].join('|');

const ERROR_TEXTS = [
  new RegExp(`^(error|http|http/\\d(\\.\\d)?|status)?[ :]*([45]\\d\\d[ :,.–-]*)?(${ERROR_PHRASES})[.!]*$`, 'i'),
  /^(error|http|status)[ :]*[45]\d\d[.!]*$/i,
  /^(oops|sorry)?[,!. ]*((an|some) )?([a-z]+ ){0,3}error (has )?occurred\b/i,
  /^(oops|sorry)?[,!. ]*something went wrong\b/i,
  /^(upstream connect error|no healthy upstream|error code: \d+)\b/i,
  /^([a-z_.]{0,60}(error|exception)|fatal|panic) ?: ?\S/i,
];

/** Returns whether a text is only an error: one line of the usual words, or a stack trace. */
function isErrorText(text: string): boolean {
  if (text.length > 4_000) return false;
  const [line = '', ...rest] = text.trim().split('\n');
  if (/^traceback \(most recent call last\)/i.test(line)) return true;
  const isTrace = rest.length > 0 && /^\s+(at |File ")/.test(rest[0] ?? '');
  return (rest.length === 0 || isTrace) && ERROR_TEXTS.some((pattern) => pattern.test(line.trim().slice(0, 500)));
}

/** Depth of objects, and items of lists, that are searched for an error. */
const MAX_WRAPPING = 3;
const MAX_ITEMS = 20;

/** Member names that wrap an answer, in lower case and without signs. */
const WRAPPERS = new Set(['data', 'result', 'results', 'response', 'body', 'payload', 'output']);

const ERROR_NAMES = new Set(
  'error,errors,err,exception,fault,errormessage,errormsg,errorcode,errordescription,errordetails,iserror'.split(','),
);
const SUCCESS_NAMES = new Set(['success', 'ok', 'succeeded', 'successful', 'issuccess']);
const STATUS_NAMES = new Set(['status', 'statuscode', 'httpstatus', 'httpstatuscode', 'httpcode', 'code', 'state']);
/** Names of members with a message in prose. */
const MESSAGE_NAMES = new Set('message,msg,detail,details,statustext,statusmessage'.split(','));
/** Names of members that come with errors and are not a product. */
const ENVELOPE_NAMES = new Set([
  ...[...ERROR_NAMES, ...SUCCESS_NAMES, ...STATUS_NAMES, ...MESSAGE_NAMES],
  ...'type,title,name,description,reason,cause,instance,id,jsonrpc,requestid,reqid,traceid,spanid,correlationid,timestamp,time,date,datetime'.split(
    ',',
  ),
  ...'path,method,endpoint,hint,help,docs,documentation,documentationurl,docurl,helpurl,moreinfo,support'.split(','),
  ...'stack,stacktrace,trace,retry,retryafter,retryable,version,apiversion,service,server,meta,metadata'.split(','),
  ...'request,input,query,params,parameters,field,param,loc,location,locations,extensions,payment,x402'.split(','),
]);

/** Returns a member name in lower case without signs, so that `request_id` and `requestId` are equal. */
function getWord(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** The meaning of a value: only an error, some content, or nothing. */
type Meaning = 'error' | 'payload' | 'nothing';

/**
 * Finds whether a value is only an error: it mentions an error, and its other members are those that come with errors.
 * Values like `{"valid": false, "errors": [...]}` and `{"result": {...}, "error": null}` are products.
 */
function readMeaning(value: unknown, depth: number): Meaning {
  if (isNothing(value)) return 'nothing';
  if (typeof value === 'string') return isErrorText(value) ? 'error' : 'payload';
  if (typeof value !== 'object' || value === null || depth > MAX_WRAPPING) return 'payload';
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => readMeaning(item, depth + 1));
    return items.every((item) => item === 'error') ? 'error' : 'payload';
  }
  const members = Object.entries(value).map(([name, member]) => [getWord(name), member] as const);
  let speaks = speaksOfError(members);
  const isMarked = members.some(([name, member]) => name === 'iserror' && member === true);
  for (const [name, member] of members) {
    if (ENVELOPE_NAMES.has(name)) {
      // Findings, as from a linter, are a product. Members that only say why something failed are not.
      if (name === 'errors' && hasFindings(member)) return 'payload';
    } else if (isMarked && name === 'content') {
      // An MCP result has its message here.
    } else if (WRAPPERS.has(name)) {
      const meaning = isErrorWord(member) ? 'error' : readMeaning(member, depth + 1);
      if (meaning === 'payload') return 'payload';
      if (meaning === 'error') speaks = true;
    } else if (!isNothing(member)) return 'payload';
  }
  return speaks ? 'error' : 'payload';
}

function hasFindings(errors: unknown): boolean {
  if (!Array.isArray(errors)) return false;
  return errors
    .slice(0, MAX_ITEMS)
    .some(
      (item) =>
        isObject(item) &&
        Object.entries(item).some(([name, of]) => !ENVELOPE_NAMES.has(getWord(name)) && !isNothing(of)),
    );
}

function speaksOfError(members: readonly (readonly [string, unknown])[]): boolean {
  const saysWhy = members.some(([name, value]) => MESSAGE_NAMES.has(name) && !isNothing(value));
  const isTitled = members.some(([name, value]) => name === 'title' && !isNothing(value));
  return members.some(([name, value]) => {
    if (ERROR_NAMES.has(name)) return isErrorMember(value);
    if (SUCCESS_NAMES.has(name)) return value === false || value === 'false';
    if (name === 'type') return isErrorWord(value);
    if (STATUS_NAMES.has(name)) {
      // "failed" or 404 alone may be the product: the state of something else.
      const isProblem = isTitled && name === 'status' && isFailedCode(value);
      return isErrorWord(value) || isProblem || (saysWhy && (isFailedCode(value) || isFailedWord(value)));
    }
    return MESSAGE_NAMES.has(name) && typeof value === 'string' && isErrorText(value);
  });
}

function isErrorMember(value: unknown): boolean {
  // A fraction such as 0.02 is a margin of error, not an error code.
  if (typeof value === 'number') return Number.isInteger(value) && value !== 0;
  if (typeof value === 'string') return !/^\s*(0|false|none|null|no|ok|success)?\s*$/i.test(value);
  return value !== false && !isNothing(value);
}

function isErrorWord(value: unknown): boolean {
  return typeof value === 'string' && /^(error|err|exception|internal[ _]?(server[ _]?)?error)$/i.test(value.trim());
}

function isFailedWord(value: unknown): boolean {
  return typeof value === 'string' && /^(fail|failed|failure)$/i.test(value.trim());
}

function isFailedCode(value: unknown): boolean {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599;
}

/** Returns whether an answer is a web page: it begins like one, or its media type says so and it contains markup. */
function isPage({ type, text, json }: Omit<ReadAnswer, 'is_whole'>): boolean {
  if (json !== undefined) return false;
  let rest = text.slice(0, BODY_START).trimStart();
  // Comments and processing instructions may come before the first element.
  for (let end = 0; end >= 0 && /^(<!--|<\?)/.test(rest); ) {
    const close = rest.startsWith('<!--') ? '-->' : '?>';
    end = rest.indexOf(close);
    rest = rest.slice(Math.max(end, 0) + close.length).trimStart();
  }
  if (/^<(!doctype\s+html|html|head|body)[\s>]/i.test(rest)) return true;
  return (type === 'text/html' || type === 'application/xhtml+xml') && /<[a-z!]/i.test(rest);
}

// Judging by the media type

function isJsonType(type: string | null): boolean {
  return type !== null && /[/+]json$/.test(type);
}

/** Reads a media type like `readMediaType`, but also takes ranges such as `image/*`. */
function readMediaRange(text: string | null): string | null {
  const range = text?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]+\/\*$/.test(range) || range === '*/*' ? range : readMediaType(text);
}

/** Returns true if an answer cannot be of the declared media type. Its own label may be wrong or too general. */
function hasOtherMediaType({ type, json, is_whole }: ReadAnswer, { mime_type }: DeclaredProduct): boolean {
  const declared = readMediaRange(mime_type);
  if (declared === null) return false;
  if (isJsonType(declared)) {
    if (json !== undefined) return false;
    return is_whole || (type !== null && !isJsonType(type));
  }
  if (type === null || type === 'application/octet-stream') return false;
  return !isSameMedia(type, declared) && !(type === 'text/plain' && declared.startsWith('text/'));
}

/** Other names of media types. */
const ALIASES: Readonly<Record<string, string>> = {
  'text/xml': 'application/xml',
  'text/javascript': 'application/javascript',
  'image/jpg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'application/xhtml+xml': 'text/html',
};

function isSameMedia(type: string, declared: string): boolean {
  const [one, other] = [type, declared].map((name) => {
    const plain = name.replace('/x-', '/');
    return ALIASES[plain] ?? plain;
  });
  if (one === other || declared === '*/*') return true;
  if (declared.endsWith('/*')) return type.startsWith(declared.slice(0, -1));
  return isJsonType(type) && isJsonType(declared);
}

// Judging by the schema

/** Returns whether an answer contradicts all schemas that the provider declares. */
function contradictsAll(answer: ReadAnswer, own: readonly DeclaredProduct[]): boolean {
  const found = own.map((product) => compareWithSchema(answer, product)).filter((shape) => shape !== 'undeclared');
  return found.length > 0 && found.every((shape) => shape === 'no');
}

function hasOtherExactType({ type }: ReadAnswer, { mime_type }: DeclaredProduct): boolean {
  const declared = readMediaType(mime_type);
  return declared !== null && type !== declared;
}

/**
 * Returns whether a body conforms to its declaration: exactly the media type, and the JSON Schema if one is declared.
 * `undeclared` if there is nothing to compare with.
 */
function getConformity(answer: ReadAnswer, declared: DeclaredProduct): Conformity {
  if (hasOtherExactType(answer, declared)) return 'no';
  const shape = compareWithSchema(answer, declared);
  if (shape !== 'undeclared') return shape;
  const type = readMediaType(declared.mime_type);
  if (type === null) return 'undeclared';
  // A body that is declared as JSON must be JSON.
  return isJsonType(type) && answer.is_whole && answer.json === undefined ? 'no' : 'yes';
}

/** Compares a body with the declared schema. A body that is not JSON counts as a string. */
function compareWithSchema(answer: ReadAnswer, { mime_type, output_schema }: DeclaredProduct): Conformity {
  const declared = readMediaRange(mime_type);
  const schema = findSchema(output_schema);
  if (!answer.is_whole || schema === undefined || (declared !== null && !isJsonType(declared))) return 'undeclared';
  const { json = answer.text } = answer;
  return new Validator(schema, '2020-12').validate(json).valid ? 'yes' : 'no';
}

/** Largest schema that is compared, in bytes, and deepest, in levels. The limit is needed because providers write them. */
const MAX_SCHEMA = 64 * 1024;
const MAX_SCHEMA_DEPTH = 50;

/** Keywords of JSON Schema. A declared output without any of them is a description in the provider's own form. */
const SCHEMA_WORDS = ['type', 'properties', 'items', 'required', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$schema'];

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'minContains'];

function findSchema(declared: JsonObject | null): JsonObject | undefined {
  if (!declared || !SCHEMA_WORDS.some((word) => word in declared)) return undefined;
  if (Buffer.byteLength(JSON.stringify(declared)) > MAX_SCHEMA) return undefined;
  const schema = readSchema(declared);
  return isObject(schema) && Object.keys(schema).length > 0 ? schema : undefined;
}

/**
 * Reads the parts of a JSON Schema that are compared: keywords with valid values. The rest (patterns, formats,
 * references, negations, conditions) is left out, so the result is never stricter than the whole schema. `isPart`: this
 * is one part of `allOf`, whose other parts declare members too.
 */
function readSchema(raw: unknown, depth = 0, isPart = false): JsonObject | boolean {
  if (typeof raw === 'boolean') return raw;
  if (!isObject(raw) || depth > MAX_SCHEMA_DEPTH) return true;
  const read = (inner: unknown) => readSchema(inner, depth + 1);
  const schema: JsonObject = {};
  const types = Array.isArray(raw.type) ? raw.type : [raw.type];
  if (types.every((type) => TYPES.includes(type))) schema.type = types;
  if ('const' in raw) schema.const = raw.const;
  if (Array.isArray(raw.enum) && raw.enum.length > 0) schema.enum = raw.enum;
  for (const name of NUMBERS) if (isBound(raw[name], name)) schema[name] = raw[name];
  for (const name of COUNTS) if (Number.isInteger(raw[name])) schema[name] = raw[name];
  if (raw.uniqueItems === true) schema.uniqueItems = true;
  if (isObject(raw.properties)) {
    // `Object.fromEntries` creates own members even for names such as `__proto__`.
    schema.properties = Object.fromEntries(Object.entries(raw.properties).map(([name, of]) => [name, read(of)]));
  }
  const { properties } = raw;
  const isWritten = (name: string) => isObject(properties) && isObject(properties[name]) && properties[name].writeOnly;
  if (Array.isArray(raw.required)) {
    schema.required = raw.required.filter((name) => typeof name === 'string' && isWritten(name) !== true);
  }
  const namesElsewhere = ['patternProperties', 'allOf', 'anyOf', 'oneOf', '$ref'].some((word) => word in raw);
  if ('additionalProperties' in raw && !namesElsewhere && !isPart) {
    schema.additionalProperties = read(raw.additionalProperties);
  }
  for (const name of ['items', 'contains']) if (isObject(raw[name])) schema[name] = read(raw[name]);
  if (Array.isArray(raw.prefixItems)) schema.prefixItems = raw.prefixItems.map(read);
  if (Array.isArray(raw.allOf)) schema.allOf = raw.allOf.map((part) => readSchema(part, depth + 1, true));
  // `oneOf` is read as `anyOf`, because without patterns several choices may match.
  const choices = [raw.anyOf, raw.oneOf].filter((choice) => Array.isArray(choice) && choice.length > 0);
  const parts = choices.map((choice) => ({ anyOf: (choice as unknown[]).map(read) }));
  if (parts.length > 0) schema.allOf = [...((schema.allOf as unknown[] | undefined) ?? []), ...parts];
  // OpenAPI 3.0.
  return raw.nullable === true ? { anyOf: [{ type: 'null' }, schema] } : schema;
}

function isBound(value: unknown, name: string): boolean {
  return typeof value === 'number' && Number.isFinite(value) && (name !== 'multipleOf' || value > 0);
}

// The fields of an answer, without their values

const MAX_FIELDS = 40;
const MAX_DEPTH = 4;
const MAX_NAME = 60;
/** Most members of an object with names for fields. One with more, all of one type, is a table whose member names are data. */
const MAX_NAMES = 30;

const TYPE_ORDER = ['string', 'number', 'boolean', 'object', 'list', 'null'];

/**
 * Lists the names and types of the fields in JSON, without values: `result.items[].price`, number. Lists are merged
 * over their first items. A name that looks like data becomes `*`, and the top level is `$`.
 */
export function listFields(json: unknown): AnswerField[] {
  const types = new Map<string, Set<string>>();
  addFields(types, json, { path: '', depth: 0 });
  return [...types].map(([path, found]) => ({
    path: path || '$',
    type: TYPE_ORDER.filter((type) => found.has(type)).join(' or '),
  }));
}

function addFields(types: Map<string, Set<string>>, value: unknown, at: { path: string; depth: number }): void {
  const { path, depth } = at;
  const isDeep = depth >= MAX_DEPTH || path.endsWith('[][][]');
  if (Array.isArray(value) && value.length > 0 && !path.endsWith('[][][]')) {
    for (const item of value.slice(0, MAX_ITEMS)) addFields(types, item, { path: `${path}[]`, depth });
    return;
  }
  if (isObject(value) && !isDeep) {
    const members = Object.entries(value);
    const isTable = members.length > MAX_NAMES && new Set(members.map(([, member]) => getTypeName(member))).size === 1;
    for (const [name, member] of members) {
      const shown = isTable ? '*' : cleanName(name);
      addFields(types, member, { path: path ? `${path}.${shown}` : shown, depth: depth + 1 });
    }
    if (members.length > 0) return;
  }
  const found = types.get(path);
  const type = getTypeName(value);
  if (found) found.add(type);
  else if (types.size < MAX_FIELDS) types.set(path, new Set([type]));
}

function getTypeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value;
}

/** Names that look like data and not like field names. */
const DATA_NAMES = [
  /^[\d\s.,:+-]*$/,
  /^0x[0-9a-f]*$/i,
  /^(?=.*\d)[0-9a-f]{8,}$/i,
  /^[0-9a-f]{16,}$/i,
  /(\d[^\d]*){6,}/,
  /\b(19|20)\d\d\b/,
  /.@./,
  /:.*:/,
  /[/\\]|www\./i,
  /[\w-]\.[\w-]/,
  /^(?=(.*\d){3})\S{20,}$/,
  /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])\S{24,}$/,
  /\S\s+\S+\s+\S+\s+\S+\s+\S/,
];

/** Everything except letters, digits and the usual signs. Some Hangul letters are invisible. */
const OTHER_SIGNS = /[^\p{L}\p{N}_$@-]|[\u115F\u1160\u3164\uFFA0]/gu;

function cleanName(name: string): string {
  const start = name.slice(0, 200);
  if (name.length > 200 || DATA_NAMES.some((pattern) => pattern.test(start))) return '*';
  const cleaned = start.normalize('NFKC').replace(OTHER_SIGNS, ' ').trim().replace(/ +/g, '_');
  return cutText(cleaned, MAX_NAME) || '*';
}
