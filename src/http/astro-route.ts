import type { APIRoute } from 'astro';

/** Passes a request of `astro dev`, or of the node adapter, on to the app that the server runs. */
export const ALL: APIRoute = ({ request, locals }) => locals.app.fetch(request);
