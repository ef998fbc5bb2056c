import { Validator } from '@cfworker/json-schema';
import type { UnrecognisedReason } from '../model/delivery.ts';
import { isObject } from '../model/json-object.ts';
import type { AnswerField, Conformity } from '../model/payment.ts';
import type { JsonObject } from '../model/route.ts';
import { cutText } from '../model/text.ts';

/** What a route declares of its product. */
export interface DeclaredProduct {
  mime_type: string | null;
  output_schema: JsonObject | null;
}

/** An answer with status 2xx and a body, and what is said of the route that gave it. */
export interface JudgedAnswer {
  content_type: string | null;
  /** The whole body, or its beginning. */
  body: Uint8Array;
  is_whole: boolean;
  /** What the catalogue shows of the route, from whatever source: `conforming` is said of this. */
  declared: DeclaredProduct;
  /** What the provider itself declares, one entry a document: only this can speak against the answer. */
  own: readonly DeclaredProduct[];
}

/** What an answer comes to. */
export interface Judgement {
  /** Null: the answer is taken for the product. */
  unrecognised: UnrecognisedReason | null;
  conforming: Conformity;
  fields: AnswerField[] | null;
}

/** Larger bodies are not read as a whole: they are judged by their beginning, in bytes. */
export const MAX_BODY = 1024 * 1024;
export const BODY_START = 64 * 1024;

/**
 * Judges an answer, better and better: first by its own words, then by the provider's own schemas, last by what the
 * catalogue declares. Who runs out of time keeps what came so far, which never says too much. Pure; a hostile schema
 * can make it slow, so it is run in a thread with a limit.
 */
export function* judgeProduct({ own, declared, ...given }: JudgedAnswer): Generator<Judgement> {
  const answer = readAnswer(given);
  const byWords: Judgement = {
    unrecognised: findReason(answer, own),
    conforming: isOtherType(answer, declared) ? 'no' : 'undeclared',
    fields: answer.json === undefined ? null : listFields(answer.json),
  };
  yield byWords;
  const unrecognised = byWords.unrecognised ?? (contradictsAll(answer, own) ? 'schema_contradicted' : null);
  yield { ...byWords, unrecognised };
  yield { ...byWords, unrecognised, conforming: getConformity(answer, declared) };
}

/** Reads the media type of a header that a seller wrote: lower case, without parameters; null where it is not one. */
export function readMediaType(text: string | null): string | null {
  const type = text?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type.length <= 100 && /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : null;
}

interface ReadAnswer {
  type: string | null;
  text: string;
  /** Undefined where the body is not JSON, or too large to be read. */
  json: unknown;
  is_whole: boolean;
}

function readAnswer({ content_type, body, is_whole }: Pick<JudgedAnswer, 'content_type' | 'body' | 'is_whole'>) {
  const text = new TextDecoder().decode(body);
  return { type: readMediaType(content_type), text, json: is_whole ? parseJson(text) : undefined, is_whole };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function findReason(answer: ReadAnswer, own: readonly DeclaredProduct[]): UnrecognisedReason | null {
  const { type, text, json, is_whole } = answer;
  if (text.trim() === '' || isEmpty(json)) return 'empty';
  if (isObject(json) && 'x402Version' in json && Array.isArray(json.accepts)) return 'asks_again';
  if (isErrorAnswer(answer)) return 'error_in_body';
  const types = own.flatMap(({ mime_type }) => readMediaRange(mime_type) ?? []);
  if (isPage(answer) && !types.some((declared) => isSameMedia('text/html', declared))) return 'html_page';
  if (is_whole && json === undefined && isJsonType(type)) return 'not_json';
  if (types.length > 0 && own.every((product) => isOtherProduct(answer, product))) return 'other_media_type';
  return null;
}

// By its own words

/** Returns whether a value holds nothing. A list of nothing inside an object is an answer: nothing was found. */
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

/** Text that is nothing but the usual words of a failure. */
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

/** Returns whether a text is an error and nothing else: one line of the usual words, or a stack trace. */
function isErrorText(text: string): boolean {
  if (text.length > 4_000) return false;
  const [line = '', ...rest] = text.trim().split('\n');
  if (/^traceback \(most recent call last\)/i.test(line)) return true;
  const isTrace = rest.length > 0 && /^\s+(at |File ")/.test(rest[0] ?? '');
  return (rest.length === 0 || isTrace) && ERROR_TEXTS.some((pattern) => pattern.test(line.trim().slice(0, 500)));
}

/** Objects inside objects, and lists, that are read for a word of an error. */
const MAX_WRAPPING = 3;
const MAX_ITEMS = 20;

/** Names, without case and signs, of what an answer is wrapped in. */
const WRAPPERS = new Set(['data', 'result', 'results', 'response', 'body', 'payload', 'output']);

const ERROR_NAMES = new Set(
  'error,errors,err,exception,fault,errormessage,errormsg,errorcode,errordescription,errordetails,iserror'.split(','),
);
const SUCCESS_NAMES = new Set(['success', 'ok', 'succeeded', 'successful', 'issuccess']);
const STATUS_NAMES = new Set(['status', 'statuscode', 'httpstatus', 'httpstatuscode', 'httpcode', 'code', 'state']);
/** What says in prose what happened. */
const MESSAGE_NAMES = new Set('message,msg,detail,details,statustext,statusmessage'.split(','));
/** What else is found around an error, and is no product beside one. */
const ENVELOPE_NAMES = new Set([
  ...[...ERROR_NAMES, ...SUCCESS_NAMES, ...STATUS_NAMES, ...MESSAGE_NAMES],
  ...'type,title,name,description,reason,cause,instance,id,jsonrpc,requestid,reqid,traceid,spanid,correlationid,timestamp,time,date,datetime'.split(
    ',',
  ),
  ...'path,method,endpoint,hint,help,docs,documentation,documentationurl,docurl,helpurl,moreinfo,support'.split(','),
  ...'stack,stacktrace,trace,retry,retryafter,retryable,version,apiversion,service,server,meta,metadata'.split(','),
  ...'request,input,query,params,parameters,field,param,loc,location,locations,extensions,payment,x402'.split(','),
]);

/** `request_id` and `requestId` are one word. */
function getWord(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** What a value says: that it is an error, and nothing else; something; or nothing. */
type Meaning = 'error' | 'payload' | 'nothing';

/**
 * Reads whether a value is an error and nothing else: it speaks of one, and all else in it is what surrounds an error.
 * So `{"valid": false, "errors": [...]}` and `{"result": {...}, "error": null}` are products.
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
      // Findings, as of a linter, are a product; what only says that and why something failed is not.
      if (name === 'errors' && hasFindings(member)) return 'payload';
    } else if (isMarked && name === 'content') {
      // A result of MCP holds the message here.
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
      // Alone, "failed" or 404 may be what was asked for: the state of something else.
      const isProblem = isTitled && name === 'status' && isFailedCode(value);
      return isErrorWord(value) || isProblem || (saysWhy && (isFailedCode(value) || isFailedWord(value)));
    }
    return MESSAGE_NAMES.has(name) && typeof value === 'string' && isErrorText(value);
  });
}

function isErrorMember(value: unknown): boolean {
  // 0.02 is a margin, and no code.
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

/** Returns whether an answer is a web page: it begins like one, or it is sent as one and has markup in it. */
function isPage({ type, text, json }: Omit<ReadAnswer, 'is_whole'>): boolean {
  if (json !== undefined) return false;
  let rest = text.slice(0, BODY_START).trimStart();
  // Comments and the like come before the first element.
  for (let end = 0; end >= 0 && /^(<!--|<\?)/.test(rest); ) {
    const close = rest.startsWith('<!--') ? '-->' : '?>';
    end = rest.indexOf(close);
    rest = rest.slice(Math.max(end, 0) + close.length).trimStart();
  }
  if (/^<(!doctype\s+html|html|head|body)[\s>]/i.test(rest)) return true;
  return (type === 'text/html' || type === 'application/xhtml+xml') && /<[a-z!]/i.test(rest);
}

// By its media type

function isJsonType(type: string | null): boolean {
  return type !== null && /[/+]json$/.test(type);
}

/** As `readMediaType`; `image/*` is a declaration too. */
function readMediaRange(text: string | null): string | null {
  const range = text?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]+\/\*$/.test(range) || range === '*/*' ? range : readMediaType(text);
}

/** Returns whether an answer can be what a product declares as its media type, whose label may be wrong or general. */
function isOtherProduct({ type, json, is_whole }: ReadAnswer, { mime_type }: DeclaredProduct): boolean {
  const declared = readMediaRange(mime_type);
  if (declared === null) return false;
  if (isJsonType(declared)) {
    if (json !== undefined) return false;
    return is_whole || (type !== null && !isJsonType(type));
  }
  if (type === null || type === 'application/octet-stream') return false;
  return !isSameMedia(type, declared) && !(type === 'text/plain' && declared.startsWith('text/'));
}

/** Names of the same types. */
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

// By its schema

/** Where the provider says two things, an answer has to contradict both. */
function contradictsAll(answer: ReadAnswer, own: readonly DeclaredProduct[]): boolean {
  const found = own.map((product) => compareWithSchema(answer, product)).filter((shape) => shape !== 'undeclared');
  return found.length > 0 && found.every((shape) => shape === 'no');
}

function isOtherType({ type }: ReadAnswer, { mime_type }: DeclaredProduct): boolean {
  const declared = readMediaType(mime_type);
  return declared !== null && type !== declared;
}

/**
 * Returns whether a body is what its route declares: its media type to the letter, and where a JSON Schema is declared,
 * its shape. `undeclared` where nothing is declared that could be compared.
 */
function getConformity(answer: ReadAnswer, declared: DeclaredProduct): Conformity {
  if (isOtherType(answer, declared)) return 'no';
  const shape = compareWithSchema(answer, declared);
  if (shape !== 'undeclared') return shape;
  const type = readMediaType(declared.mime_type);
  if (type === null) return 'undeclared';
  // What says that it is JSON has to be.
  return isJsonType(type) && answer.is_whole && answer.json === undefined ? 'no' : 'yes';
}

/** Compares a body with the schema that a product declares. A body that is not JSON counts as a string. */
function compareWithSchema(answer: ReadAnswer, { mime_type, output_schema }: DeclaredProduct): Conformity {
  const declared = readMediaRange(mime_type);
  const schema = findSchema(output_schema);
  if (!answer.is_whole || schema === undefined || (declared !== null && !isJsonType(declared))) return 'undeclared';
  const { json = answer.text } = answer;
  return new Validator(schema, '2020-12').validate(json).valid ? 'yes' : 'no';
}

/** Larger schemas are not compared, in bytes; nor deeper ones, in levels: both are the provider's. */
const MAX_SCHEMA = 64 * 1024;
const MAX_SCHEMA_DEPTH = 50;

/** Words without which a declared output is a description in the provider's own form, not a JSON Schema. */
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
 * Reads what of a JSON Schema is compared: the keywords that are used as they are meant. The rest (patterns, formats,
 * references, negations, conditions) is left out so that the outcome is never stricter than the whole. `isPart`: this
 * is one part of `allOf`, whose other parts name members too.
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
    // `Object.fromEntries` makes own members whatever their names are.
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
  // Without its patterns more than one of them may fit.
  const choices = [raw.anyOf, raw.oneOf].filter((choice) => Array.isArray(choice) && choice.length > 0);
  const parts = choices.map((choice) => ({ anyOf: (choice as unknown[]).map(read) }));
  if (parts.length > 0) schema.allOf = [...((schema.allOf as unknown[] | undefined) ?? []), ...parts];
  // OpenAPI 3.0.
  return raw.nullable === true ? { anyOf: [{ type: 'null' }, schema] } : schema;
}

function isBound(value: unknown, name: string): boolean {
  return typeof value === 'number' && Number.isFinite(value) && (name !== 'multipleOf' || value > 0);
}

// What came back, without what it says

const MAX_FIELDS = 40;
const MAX_DEPTH = 4;
const MAX_NAME = 60;
/** An object with more members, all of one type, is a table whose names are data. */
const MAX_NAMES = 30;

const TYPE_ORDER = ['string', 'number', 'boolean', 'object', 'list', 'null'];

/**
 * Lists names and types of what JSON holds, and nothing of what it says: `result.items[].price`, number. Lists are
 * merged over their first items, a name that looks like data is `*`, the whole itself is `$`.
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

/** What looks like data rather than like a name that somebody gave to it. */
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

/** All but letters, digits and the usual signs; some letters of Hangul are invisible. */
const OTHER_SIGNS = /[^\p{L}\p{N}_$@-]|[\u115F\u1160\u3164\uFFA0]/gu;

function cleanName(name: string): string {
  const start = name.slice(0, 200);
  if (name.length > 200 || DATA_NAMES.some((pattern) => pattern.test(start))) return '*';
  const cleaned = start.normalize('NFKC').replace(OTHER_SIGNS, ' ').trim().replace(/ +/g, '_');
  return cutText(cleaned, MAX_NAME) || '*';
}
