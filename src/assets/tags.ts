/** Shows the listings of the live OpenAPI document as cards. The document is loaded once, when first needed. */
const SHOWN_CARDS = 20;

type Tag = Readonly<Record<string, unknown>>;

const section = document.querySelector<HTMLElement>('[data-tags]');
const form = section?.querySelector<HTMLFormElement>('form');
const status = section?.querySelector<HTMLElement>('[data-tags-status]');
const cards = section?.querySelector<HTMLElement>('[data-tags-cards]');
let loading: Promise<readonly Tag[]> | undefined;

if (section && form && status && cards) {
  for (const note of section.querySelectorAll<HTMLElement>('.needs-script')) note.hidden = true;
  const show = async () => {
    status.textContent = 'Loading the document…';
    try {
      loading ??= load(section.dataset.tags ?? '');
      const tags = await loading;
      const words = (form.querySelector('input')?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
      const found = tags.filter((tag) => {
        const text = JSON.stringify(tag).toLowerCase();
        return words.every((word) => text.includes(word));
      });
      status.textContent = describe(found.length, tags.length);
      cards.replaceChildren(...found.slice(0, SHOWN_CARDS).map(buildCard));
    } catch {
      loading = undefined;
      status.textContent = 'The document could not be loaded. Try again in a moment.';
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void show();
  });
  form.addEventListener('input', () => loading && void show());
}

async function load(url: string): Promise<readonly Tag[]> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(String(response.status));
  return (await response.json()).tags;
}

function describe(found: number, all: number): string {
  const of = `${found} of ${all} listings`;
  return found > SHOWN_CARDS ? `${of}; the first ${SHOWN_CARDS} are shown.` : `${of}.`;
}

/** Builds the card of a listing. Everything goes in as text: a provider's words are never markup. */
function buildCard(tag: Tag): HTMLElement {
  const { name, description, externalDocs: _docs, ...fields } = tag;
  const card = add('article', 'tag-card');
  const title = add('h3', '', card);
  const link = add('a', '', title);
  link.textContent = String(name);
  if (link instanceof HTMLAnchorElement) link.href = `/api/${encodeURIComponent(String(name))}`;
  add('blockquote', '', card).textContent = String(description);
  const list = add('dl', 'tag-fields', card);
  for (const [key, value] of Object.entries(fields)) {
    const row = add('div', Array.isArray(value) ? 'wide' : '', list);
    const term = add('dt', '', row);
    term.textContent = key;
    term.title = document.querySelector(`[data-meaning="${CSS.escape(key)}"]`)?.textContent ?? '';
    for (const words of listWords(value)) add('dd', '', row).textContent = words;
  }
  return card;
}

function listWords(value: unknown): string[] {
  if (!Array.isArray(value)) return [value === null ? 'null' : String(value)];
  return value.map((entry: Tag) =>
    Object.entries(entry)
      .map(([key, part]) => `${key} ${part}`)
      .join(', '),
  );
}

function add(name: string, className = '', parent?: HTMLElement): HTMLElement {
  const element = document.createElement(name);
  if (className !== '') element.className = className;
  parent?.append(element);
  return element;
}
