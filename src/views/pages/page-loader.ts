/**
 * The one inline script of a page: it loads the page's own scripts, named in its `data-src`, in the frame after the first paint.
 * The page is readable without them, and they come over the connection that is already open. The content security policy allows
 * exactly these bytes by their hash; they are the same on every page.
 */
export const PAGE_LOADER = [
  '(urls=>{const next=requestAnimationFrame;',
  "addEventListener('load',()=>next(()=>next(()=>urls.forEach(url=>import(url)))))",
  "})(document.currentScript.dataset.src.split(' '))",
].join('');
