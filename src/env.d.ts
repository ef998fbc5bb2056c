/// <reference types="astro/client" />

declare namespace App {
  interface Locals {
    /** Reads the data of pages. The production server and the renderer pass theirs; else the middleware opens it. */
    reading: import('./published/reading.ts').Reading;
    /** The app of the live routes, for the endpoints that hand requests on to it. */
    app: { fetch(request: Request): Response | Promise<Response> };
    /** Content of the page of the check. The intake alone sets it. */
    submission?: import('./views/provider-check.ts').SubmitPage;
    /** Content of the page of a submission. The intake alone sets it. */
    journey?: import('./views/submission.ts').JourneyPage;
  }
}
