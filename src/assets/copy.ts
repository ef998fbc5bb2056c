/** Gives every code block a button that copies it. Without JavaScript there is no button, and the text can be selected. */
const RESET_MS = 2000;

for (const block of document.querySelectorAll<HTMLElement>('[data-copy]')) {
  const code = block.querySelector('code');
  if (!code || !('clipboard' in navigator)) continue;
  const button = document.createElement('button');
  const say = (word: string, state: string) => {
    button.textContent = word;
    button.setAttribute('aria-label', `${state} ${block.dataset.copy}`);
  };
  button.type = 'button';
  button.className = 'copy';
  button.setAttribute('aria-live', 'polite');
  say('Copy', 'Copy');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      say('Copied', 'Copied');
    } catch {
      say('Not allowed', 'The browser does not allow copying the');
    }
    setTimeout(say, RESET_MS, 'Copy', 'Copy');
  });
  block.append(button);
}
