/** Keys of a list: `/` leads to the search box, arrows from it and from row to row. Without JavaScript there is Tab. */
addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
  const { activeElement } = document;
  const box = document.querySelector<HTMLInputElement>('[data-search] input');
  if (event.key === '/' && !activeElement?.matches('input, textarea, select')) {
    event.preventDefault();
    box?.focus();
  }
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const rows = [...document.querySelectorAll<HTMLElement>('.card h3 a')].filter((row) => row.checkVisibility());
  const at = rows.findIndex((row) => row === activeElement);
  if (at < 0 && activeElement !== box) return;
  const next = event.key === 'ArrowDown' ? rows[at + 1] : (rows[at - 1] ?? box);
  event.preventDefault();
  next?.focus();
});
