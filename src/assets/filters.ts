/**
 * Applies the filters of the search page as soon as one is chosen: results and filters, with their counts, come from
 * the page that the form leads to. Without JavaScript its button leads there.
 */
const form = document.querySelector<HTMLFormElement>('form:has([data-filters])');
const status = document.createElement('p');
let asking: AbortController | undefined;

status.className = 'hidden';
status.setAttribute('role', 'status');
form?.append(status);

form?.addEventListener('change', async ({ target }) => {
  if (!(target instanceof Element) || !target.closest('[data-filters]')) return;
  asking?.abort();
  asking = new AbortController();
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string' && value) query.set(name, value);
  const url = `${form.action}?${query}`;
  try {
    const response = await fetch(url, { signal: asking.signal });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const focused = document.activeElement?.id;
    for (const part of ['.search-filters', '[data-found]']) {
      const fresh = page.querySelector(part);
      if (fresh) document.querySelector(part)?.replaceWith(document.adoptNode(fresh));
    }
    if (focused) document.getElementById(focused)?.focus();
    status.textContent = document.querySelector('#results, [data-found] [role=alert]')?.textContent ?? '';
    history.replaceState(null, '', url);
  } catch {
    if (!asking.signal.aborted) form.requestSubmit();
  }
});
