/** The name under which the service asks others, and that rules of a robots.txt may be addressed to. */
export const ROBOT_NAME = 'agent-payable-apis';
