/**
 * Shows matches below a search box while a visitor types. Every link is a plain link and Enter submits the plain form,
 * so the search also works without this script, only later.
 */
const PAUSE_MS = 150;
const SLOW_MS = 400;
const SHOWN = 6;

/** The shown fields of an element of `/agent/list`. */
interface Item {
  title: string;
  host: string;
  tagline: string;
  page_url: string;
  price_min_usdc: number;
  price_max_usdc: number;
  price_min_is_ceiling?: boolean;
  price_max_is_ceiling?: boolean;
  verified_route_count: number;
  endpoints_count: number;
  last_verified_at: string | null;
  verified_price_usdc?: number;
}

for (const box of document.querySelectorAll<HTMLElement>('[data-search]')) {
  const input = box.querySelector('input');
  if (input?.form) openSearch(box, input, input.form);
}

function openSearch(box: HTMLElement, input: HTMLInputElement, form: HTMLFormElement): void {
  const panel = build('div', 'suggestions');
  const status = build('p', 'suggestions-status');
  const list = build('ul');
  const all = build('button', 'suggestions-all');
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking: AbortController | undefined;
  status.setAttribute('role', 'status');
  all.type = 'submit';
  panel.append(status, list, all);
  panel.hidden = true;
  box.append(panel);

  const close = () => {
    clearTimeout(timer);
    asking?.abort();
    panel.hidden = true;
  };
  const show = (text: string, items: readonly Item[] = [], total = 0) => {
    status.textContent = text;
    list.replaceChildren(...items.map(buildSuggestion));
    list.hidden = items.length === 0;
    all.textContent = `All ${total} results`;
    all.hidden = total <= items.length;
    panel.hidden = false;
  };
  const ask = async () => {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    const slow = setTimeout(() => signal.aborted || show('Searching …'), SLOW_MS);
    try {
      const response = await fetch(`${box.dataset.search}?${buildQuery(form)}`, { signal });
      const answer = await response.json();
      if (signal.aborted) return;
      if (!response.ok) return show(`${answer.detail} ${answer.hint ?? ''}`);
      const { listings, total } = answer;
      show(
        total === 0 ? 'Nothing matches. Try fewer or other words.' : `${total} ${total === 1 ? 'match' : 'matches'}`,
        listings,
        total,
      );
    } catch {
      if (!signal.aborted) show('The search does not answer just now. Enter tries again.');
    } finally {
      clearTimeout(slow);
    }
  };

  input.addEventListener('input', () => {
    clearTimeout(timer);
    if (input.value.trim() === '') close();
    else timer = setTimeout(ask, PAUSE_MS);
  });
  box.addEventListener('keydown', (event) => {
    if (panel.hidden || !['ArrowDown', 'ArrowUp', 'Escape'].includes(event.key)) return;
    event.preventDefault();
    if (event.key === 'Escape') {
      input.focus();
      return close();
    }
    const stops = [input, ...panel.querySelectorAll<HTMLElement>('a, button:not([hidden])')];
    const at = stops.findIndex((stop) => stop === document.activeElement);
    stops[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
  });
  box.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && box.contains(relatedTarget))) close();
  });
  // A visitor who comes back finds the filters of the address, not those chosen before leaving.
  addEventListener('pageshow', ({ persisted }) => persisted && form.reset());
  // Empty fields stay out of the address.
  form.addEventListener('formdata', ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === '') formData.delete(name);
  });
}

/** Builds the query of `/agent/list` from the form. */
function buildQuery(form: HTMLFormElement): string {
  const query = new URLSearchParams({ limit: String(SHOWN) });
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string' && value.trim() !== '' && name !== 'sort') query.set(name, value.trim());
  }
  return query.toString();
}

/** Builds one suggestion. A provider's words go in as text, never as markup. */
function buildSuggestion(item: Item): HTMLLIElement {
  const link = build('a');
  const [low, high] = [
    formatUsdc(item.price_min_usdc, item.price_min_is_ceiling),
    formatUsdc(item.price_max_usdc, item.price_max_is_ceiling),
  ];
  link.href = new URL(item.page_url).pathname;
  link.append(
    buildName(item),
    build(
      'span',
      'suggestion-price',
      `${low === high ? low : `${low}${item.price_max_is_ceiling ? ' or ' : '-'}${high}`} USDC`,
    ),
    buildWords('q', 'suggestion-words', item.tagline),
    build('span', 'suggestion-state', formatVerified(item)),
  );
  const entry = build('li');
  entry.append(link);
  return entry;
}

/** Builds an element for a provider's words, which may run from right to left. */
function buildWords(name: 'b' | 'q', className: string, words: string): HTMLElement {
  const element = build(name, className, words);
  element.dir = 'auto';
  return element;
}

/** Builds title and host. The host stays whole beside a long title. */
function buildName({ title, host }: Item): HTMLSpanElement {
  const name = build('span', 'suggestion-name');
  name.append(buildWords('b', '', title), build('span', 'host', host));
  return name;
}

function formatVerified({
  verified_route_count: verified,
  endpoints_count: total,
  last_verified_at: at,
  verified_price_usdc: price,
}: Item): string {
  if (verified === 0 || at === null) return '';
  const proved = price === undefined ? '' : `${verified > 1 ? ', one' : ''} at ${formatUsdc(price)} USDC`;
  return `${verified} of ${total} verified, ${at.slice(0, 10)}${proved}`;
}

function formatUsdc(amount: number, isCeiling = false): string {
  return (isCeiling ? 'up to ' : '') + amount.toFixed(6).replace(/\.?0+$/, '');
}

function build<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className = '',
  text = '',
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}
