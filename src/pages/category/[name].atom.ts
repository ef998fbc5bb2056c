export { ALL } from '../../http/endpoint.ts';
