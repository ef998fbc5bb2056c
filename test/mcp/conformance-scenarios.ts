/**
 * Which server scenarios of the MCP conformance suite hold for a read-only server of tools, resources and a prompt. The
 * suite finds the others' subjects by fixed names (`test_simple_text`, `test://static-text` …), which only its own fixture
 * server has, or tries what this server does not offer. Every scenario of the suite stands in one of the two lists.
 */
export const APPLIES = [
  'server-initialize',
  'server-stateless',
  'ping',
  'tools-list',
  'resources-list',
  'sep-2164-resource-not-found',
  'prompts-list',
  'dns-rebinding-protection',
  'caching',
  'http-header-validation',
  'input-required-result-unsupported-methods',
  'input-required-result-validate-input',
] as const;

/** Checks of a scenario that applies which need a fixture tool all the same: the suite calls them "not testable". */
export const UNTESTABLE_CHECKS: Readonly<Record<string, string>> = {
  'sep-2575-server-rejects-undeclared-capability': 'calls the fixture tool test_missing_capability',
  'sep-2575-missing-capability-http-400': 'calls the fixture tool test_missing_capability',
  'sep-2575-http-server-no-independent-requests-on-stream': 'calls the fixture tool test_streaming_elicitation',
  'sep-2575-server-no-log-without-loglevel': 'calls the fixture tool test_logging_tool',
};

const FIXTURE_TOOL = 'calls a tool that only the fixture server has';
const FIXTURE_RESOURCE = 'reads a resource that only the fixture server has';
const FIXTURE_PROMPT = 'gets a prompt that only the fixture server has';
const NO_INPUT = 'needs a fixture that asks the user, a model or the file system in between; nothing here does';
const NO_SESSION = 'needs a session or a stream that is kept; this server keeps neither';
const NO_SUBSCRIPTION = 'needs subscriptions to resources, which this server does not offer';
const NO_TASKS = 'an extension for long-running tasks, which a server of quick reads has no use for';
const NO_SKILLS = 'an extension for serving skills, which this server does not offer';

/** The scenarios that do not apply, each with its reason. */
export const DOES_NOT_APPLY: Readonly<Record<string, string>> = {
  'server-session-lifecycle': NO_SESSION,
  'server-sse-polling': NO_SESSION,
  'server-sse-multiple-streams': NO_SESSION,
  'logging-set-level': 'needs logging to the client, which this server does not offer',
  'completion-complete': 'completes an argument of a prompt that only the fixture server has',
  'tools-call-simple-text': FIXTURE_TOOL,
  'tools-call-image': FIXTURE_TOOL,
  'tools-call-audio': FIXTURE_TOOL,
  'tools-call-embedded-resource': FIXTURE_TOOL,
  'tools-call-mixed-content': FIXTURE_TOOL,
  'tools-call-with-logging': FIXTURE_TOOL,
  'tools-call-error': FIXTURE_TOOL,
  'tools-call-with-progress': FIXTURE_TOOL,
  'tools-call-sampling': FIXTURE_TOOL,
  'tools-call-elicitation': FIXTURE_TOOL,
  'json-schema-2020-12': FIXTURE_TOOL,
  'elicitation-sep1034-defaults': FIXTURE_TOOL,
  'elicitation-sep1330-enums': FIXTURE_TOOL,
  'resources-read-text': FIXTURE_RESOURCE,
  'resources-read-binary': FIXTURE_RESOURCE,
  'resources-templates-read': FIXTURE_RESOURCE,
  'resources-subscribe': NO_SUBSCRIPTION,
  'resources-unsubscribe': NO_SUBSCRIPTION,
  'prompts-get-simple': FIXTURE_PROMPT,
  'prompts-get-with-args': FIXTURE_PROMPT,
  'prompts-get-embedded-resource': FIXTURE_PROMPT,
  'prompts-get-with-image': FIXTURE_PROMPT,
  'http-custom-header-server-validation': 'needs a tool whose arguments travel in headers, too; none here do',
  'input-required-result-basic-elicitation': NO_INPUT,
  'input-required-result-basic-sampling': NO_INPUT,
  'input-required-result-basic-list-roots': NO_INPUT,
  'input-required-result-request-state': NO_INPUT,
  'input-required-result-multiple-input-requests': NO_INPUT,
  'input-required-result-multi-round': NO_INPUT,
  'input-required-result-missing-input-response': NO_INPUT,
  'input-required-result-non-tool-request': NO_INPUT,
  'input-required-result-result-type': NO_INPUT,
  'input-required-result-tampered-state': NO_INPUT,
  'input-required-result-capability-check': NO_INPUT,
  'input-required-result-ignore-extra-params': NO_INPUT,
  'sep-2640-skills-directory': NO_SKILLS,
  'sep-2640-skills-enumeration': NO_SKILLS,
  'sep-2640-skills-manifest': NO_SKILLS,
  'tasks-lifecycle': NO_TASKS,
  'tasks-capability-negotiation': NO_TASKS,
  'tasks-wire-fields': NO_TASKS,
  'tasks-request-state-removal': NO_TASKS,
  'tasks-mrtr-input': NO_TASKS,
  'tasks-request-headers': NO_TASKS,
  'tasks-dispatch-and-envelope': NO_TASKS,
  'tasks-status-notifications': NO_TASKS,
  'tasks-required-task-error': NO_TASKS,
  'tasks-mrtr-composition': NO_TASKS,
};
