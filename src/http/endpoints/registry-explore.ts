import { PATHS } from '../../views/links.ts';
import { buildProblem } from '../problem.ts';
import { type Endpoint, READ_AND_POST } from './define.ts';

/** The facets of the registry of agent discovery. There are none, so it answers 501, as the specification demands. */
export const registryExploreEndpoint: Endpoint = {
  path: PATHS.registryExplore,
  method: 'post',
  allow: READ_AND_POST,
  mount: ({ app }) =>
    app.use(PATHS.registryExplore, async (c, next) => {
      if (c.req.method !== 'POST') return next();
      const detail = 'This registry computes no facets.';
      const names = { errorCode: 'NOT_IMPLEMENTED', message: detail };
      return buildProblem({ status: 501, code: 'not_implemented', detail, ...names });
    }),
};
