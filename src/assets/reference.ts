/** Forms of the endpoint reference: each sends its request and shows the answer, or opens it without JavaScript. */
import './tags.ts';

/** Most characters of an answer that are shown: more would hold up the page. */
const SHOWN_CHARACTERS = 100_000;

const HEADERS = ['content-type', 'etag', 'cache-control', 'x-catalogue-revision', 'ratelimit', 'retry-after'];

interface Call {
  readonly url: string;
  readonly body: string | undefined;
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-operation]')) {
  for (const fieldset of form.querySelectorAll('fieldset')) fieldset.disabled = false;
  for (const button of form.querySelectorAll('button')) button.hidden = false;
  for (const note of form.querySelectorAll<HTMLElement>('.needs-script')) note.hidden = true;
  const command = form.querySelector<HTMLElement>('.code code');
  form.addEventListener('input', () => {
    if (command) command.textContent = writeCommand(readCall(form));
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
}

/** Reads the request from a form. Empty fields are not sent. */
function readCall(form: HTMLFormElement): Call {
  const { path = '/', method } = form.dataset;
  const url = new URL(path, location.origin);
  let filled = path;
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[data-place]')) {
    const value = field.value.trim();
    if (field.dataset.place === 'path') filled = filled.replace(`{${field.name}}`, encodeURIComponent(value));
    else if (value !== '') url.searchParams.append(field.name, value);
  }
  url.pathname = filled;
  const body = method === 'POST' ? form.querySelector('textarea')?.value : undefined;
  return { url: url.href, body };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function writeCommand({ url, body }: Call): string {
  if (body === undefined) return `curl ${quote(url)}`;
  const headers = `-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'`;
  return `curl ${quote(url)} ${headers} -d ${quote(body)}`;
}

async function send(form: HTMLFormElement): Promise<void> {
  const answer = form.querySelector<HTMLElement>('[data-answer]');
  const line = answer?.querySelector<HTMLElement>('.answer-line');
  const code = answer?.querySelector('code');
  if (!answer || !line || !code) return;
  const { url, body } = readCall(form);
  answer.hidden = false;
  answer.dataset.state = 'loading';
  line.textContent = 'Asking…';
  const began = performance.now();
  try {
    const response = await fetch(url, {
      ...(body === undefined
        ? {}
        : {
            method: 'POST',
            body,
            headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
          }),
    });
    const text = await response.text();
    const took = Math.round(performance.now() - began);
    const size = new TextEncoder().encode(text).length;
    answer.dataset.state = response.ok ? 'ok' : 'failed';
    line.textContent = `${response.status} ${response.statusText} · ${took} ms · ${formatSize(size)}`;
    const headers = HEADERS.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [`${name}: ${value}`];
    });
    const shown = formatBody(text, response.headers.get('content-type') ?? '');
    code.textContent = `${headers.join('\n')}\n\n${shown}`;
  } catch (error) {
    answer.dataset.state = 'failed';
    line.textContent = 'No answer came.';
    code.textContent = String(error);
  }
}

function formatSize(bytes: number): string {
  return bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`;
}

function formatBody(text: string, type: string): string {
  let shown = text;
  if (type.includes('json')) {
    try {
      shown = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      shown = text;
    }
  }
  if (shown.length <= SHOWN_CHARACTERS) return shown;
  return `${shown.slice(0, SHOWN_CHARACTERS)}\n… cut here; open the address to see all of it.`;
}
