import { DAY_MS } from '../model/duration.ts';

/** Filters many routes by words, and unfolds the one that an address leads to. Without JavaScript all are shown. */
for (const input of document.querySelectorAll<HTMLInputElement>('[data-route-filter]')) {
  const tools = input.closest('.route-tools');
  const region = tools?.nextElementSibling;
  const status = tools?.querySelector('[role=status]');
  if (region && status) openFilter(input, region, status);
}

function openFilter(input: HTMLInputElement, region: Element, status: Element): void {
  const routes = [...region.querySelectorAll<HTMLElement>('.route-row[id], details[id]')];
  const texts = routes.map((route) => route.textContent.toLowerCase());
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [at, route] of routes.entries()) {
      route.hidden = !words.every((word) => texts[at]?.includes(word));
      if (!route.hidden) shown += 1;
    }
    for (const group of region.querySelectorAll<HTMLElement>(':scope > div, .route-fold')) {
      group.hidden = !routes.some((route) => !route.hidden && group.contains(route));
      if (group instanceof HTMLDetailsElement) group.open = words.length > 0;
    }
    status.textContent = words.length === 0 ? '' : `${shown} of ${routes.length} routes`;
  };
  input.addEventListener('input', apply);
  // A visitor may have typed before this script ran.
  if (input.value !== '') apply();
}

function unfoldTarget(): void {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const unfolded = target ? target.closest('details') : null;
  if (unfolded) unfolded.open = true;
}
addEventListener('hashchange', unfoldTarget);
unfoldTarget();

// The age of a proof is added here, because a page is the same from day to day.
for (const time of document.querySelectorAll('time[data-age]')) {
  const days = Math.floor((Date.now() - Date.parse(time.textContent)) / DAY_MS);
  const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(-days, 'day');
  if (days >= 0) time.after(`, ${ago}`);
}
