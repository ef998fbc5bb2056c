/** Keeps the language in which calls are shown: one choice for the whole page, remembered for the next page. */
const KEY = 'call-language';

const choices = [...document.querySelectorAll<HTMLInputElement>('.tabs input')];

function choose(language: string | null): void {
  for (const choice of choices) if (choice.value === language) choice.checked = true;
}

/** Returns null where the browser refuses storage; the choice then lasts as long as the page. */
function useStorage(use: (storage: Storage) => string | null): string | null {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

for (const choice of choices) {
  choice.addEventListener('change', () => {
    choose(choice.value);
    useStorage((storage) => {
      storage.setItem(KEY, choice.value);
      return null;
    });
  });
}
choose(useStorage((storage) => storage.getItem(KEY)));
