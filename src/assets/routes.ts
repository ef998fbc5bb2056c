/** Gives a long table of routes a box that filters it. Without JavaScript there is no box, and the table is whole. */
const FILTERED_FROM = 9;

for (const region of document.querySelectorAll<HTMLElement>('[data-routes]')) {
  const rows = [...region.querySelectorAll<HTMLElement>('tbody tr:not(.group)')];
  if (rows.length < FILTERED_FROM) continue;
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const label = document.createElement('label');
  const input = document.createElement('input');
  const status = document.createElement('span');
  label.className = 'route-filter';
  label.append('Filter routes ', input);
  input.type = 'search';
  input.autocomplete = 'off';
  status.setAttribute('role', 'status');
  status.className = 'soft';
  input.addEventListener('input', () => {
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
  });
  const tools = document.createElement('p');
  tools.className = 'route-tools';
  tools.append(label, status);
  region.before(tools);
}
