/** Filters a long table of routes by words. Without JavaScript its box is not shown, and the table is whole. */
for (const input of document.querySelectorAll<HTMLInputElement>('[data-route-filter]')) {
  const tools = input.closest('.route-tools');
  const region = tools?.nextElementSibling;
  const status = tools?.querySelector('[role=status]');
  if (region && status) openFilter(input, region, status);
}

function openFilter(input: HTMLInputElement, region: Element, status: Element): void {
  const rows = [...region.querySelectorAll<HTMLElement>('tbody tr:not(.group)')];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [at, row] of rows.entries()) {
      row.hidden = !words.every((word) => texts[at]?.includes(word));
      if (!row.hidden) shown += 1;
    }
    for (const group of region.querySelectorAll<HTMLElement>('.group')) {
      group.hidden = !group.parentElement?.querySelector('tr:not(.group):not([hidden])');
    }
    status.textContent = words.length === 0 ? '' : `${shown} of ${rows.length} routes`;
    region.scrollTop = 0;
  };
  input.addEventListener('input', apply);
  // Somebody may have typed before this was there.
  if (input.value !== '') apply();
}
