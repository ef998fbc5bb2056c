export { getUserAgent } from '../views/user-agent.ts';
