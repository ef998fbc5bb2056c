import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { NETWORKS } from '../../src/model/network.ts';
import { X402_SDK } from './x402-sdk.ts';

/** Another token of Base that is paid in the same way, and of which as many units are worth much more. */
const CBBTC = '0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf';

const ASSETS = [...Object.values(NETWORKS).map(({ usdc }) => usdc), CBBTC];

/**
 * Makes the modules that the script may import, with the names and signatures of the packages and nothing else: any other
 * name or argument fails, as with the packages themselves. Some names also write down what they were given.
 */
const STAND_INS = `
import gc, inspect, json, os, sys, traceback, types
from decimal import Decimal
given = json.loads(sys.argv[1])
for name, source in given["modules"].items():
    parts = name.split(".")
    for depth in range(len(parts)):
        part = ".".join(parts[: depth + 1])
        sys.modules.setdefault(part, types.ModuleType(part))
        sys.modules[part].__path__ = []
    exec(source, sys.modules[name].__dict__)
said = {"registered": []}
policies = []
class Offer:
    def __init__(self, asset, amount):
        self.asset, self.amount = asset, amount
def choose(offers):
    offers = [offer for offer in offers if offer.amount <= said["cap"]]
    for policy in policies:
        offers = policy(2, offers)
    return [f"{offer.amount - said['cap']} {offer.asset}" for offer in offers]
def follow(owner, name, then):
    signature = inspect.signature(getattr(owner, name))
    setattr(owner, name, lambda *args, **kwargs: then(signature.bind(*args, **kwargs).arguments))
def request(call):
    del call["self"]
    said.update(payable=choose([Offer(asset, said["cap"] + more) for asset in given["assets"] for more in (0, 1)]))
    said.update(method=call.pop("method"), url=call.pop("url"))
    said.update(options={k: v.decode() if isinstance(v, bytes) else v for k, v in call.items()})
    return sys.modules["requests"].Response()
client = sys.modules["x402"].x402ClientSync
follow(client, "set_spend_controls", lambda call: said.update(cap=int(Decimal(call["controls"].pop("max_amount_per_payment")[1:]) * 10**6)))
follow(client, "register_policy", lambda call: policies.append(call["policy"]))
follow(client, "register", lambda call: said["registered"].append(f"{type(call['client']).__name__} {call['network']}"))
for family in ("evm", "svm"):
    register = sys.modules[f"x402.mechanisms.{family}.exact.register"]
    follow(register, f"register_exact_{family}_client", lambda call: said["registered"].append(f"exact {call['networks']}"))
follow(sys.modules["x402.http.clients"], "x402_requests", lambda call: sys.modules["requests"].Session())
follow(sys.modules["requests"].Session, "request", request)
`;

/** What a script asks for: the request that it makes, and the most that it pays, in atomic USDC. */
export interface PythonRequest {
  readonly method: string;
  readonly url: string;
  /** Schemes that it can pay by, each with the network. */
  readonly registered: readonly string[];
  readonly cap: number;
  /** Which offers it would pay of each token at the cap and one above it: how far above, and the token. */
  readonly payable: readonly string[];
  readonly options: {
    readonly headers?: Record<string, string>;
    readonly data?: string;
    readonly allow_redirects: boolean;
  };
}

/** Runs each script, a line of JSON, in a process of its own that begins with the stand-ins, and says how it ended. */
const RUN_EACH = `
def run(code):
    try:
        exec(code, {"__name__": "__main__"})
        print("\\n" + json.dumps(said))
    except BaseException:
        traceback.print_exc()
    # What is not awaited is warned of where it is forgotten.
    gc.collect()
for line in sys.stdin:
    pipes = [os.pipe(), os.pipe()]
    if os.fork() == 0:
        for number, (_, end) in enumerate(pipes, 1):
            os.dup2(end, number)
        run(json.loads(line))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    texts = []
    for start, end in pipes:
        os.close(end)
        texts.append(open(start, encoding="utf-8").read())
    os.wait()
    print(json.dumps(texts), flush=True)
`;

let opened: ReturnType<typeof openPython> | undefined;

/** Opens the Python of this process, which ends with it. */
function openPython() {
  const child = spawn('python3', ['-c', `${STAND_INS}${RUN_EACH}`, JSON.stringify({ ...X402_SDK, assets: ASSETS })], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, EVM_PRIVATE_KEY: '0x1', SVM_PRIVATE_KEY: '1', PYTHONIOENCODING: 'utf-8' },
  });
  child.unref();
  for (const pipe of [child.stdin, child.stdout]) if ('unref' in pipe && pipe.unref instanceof Function) pipe.unref();
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { stdin: child.stdin, lines };
}

/** Runs a script in a real Python. Throws if it fails, or warns of a call that is not awaited. */
export async function runPython(code: string): Promise<PythonRequest> {
  opened ??= openPython();
  opened.stdin.write(`${JSON.stringify(code)}\n`);
  const { value } = await opened.lines.next();
  const [stdout, stderr]: [string, string] = JSON.parse(value ?? '');
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}
