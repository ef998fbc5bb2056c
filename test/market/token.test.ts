import { concatHex, domainSeparator, parseEventLogs, parseSignature, serializeSignature } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BaseChain, openWallet, startBaseChain } from '../../scripts/market/chain-base.ts';
import { TOKEN_ABI, TOKEN_ADDRESS, TOKEN_DOMAIN, TOKEN_TYPES } from '../../scripts/market/token/token.ts';
import { makeAccount, makeAuthorization, signAuthorization, splitSignature, submit } from './authorizations.ts';

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const payer = makeAccount();
const payee = makeAccount();
const relay = makeAccount();
let chain: BaseChain;
let wallet: ReturnType<typeof openWallet>;

beforeAll(async () => {
  chain = await startBaseChain();
  wallet = openWallet(chain.rpcUrl, relay);
  await Promise.all([relay, payee, payer].map(({ address }) => chain.fundGas(address)));
  await chain.fund(payer.address, 1_000_000n);
});
afterAll(() => chain.stop());

const read = (functionName: 'name' | 'symbol' | 'version' | 'decimals' | 'totalSupply' | 'DOMAIN_SEPARATOR') =>
  wallet.readContract({ address: TOKEN_ADDRESS, abi: TOKEN_ABI, functionName });

const isUsed = (nonce: `0x${string}`) =>
  wallet.readContract({
    address: TOKEN_ADDRESS,
    abi: TOKEN_ABI,
    functionName: 'authorizationState',
    args: [payer.address, nonce],
  });

describe('the token', () => {
  it('says of itself what USDC on Base says, on a chain that says it is Base', async () => {
    expect(await Promise.all((['name', 'symbol', 'version', 'decimals'] as const).map(read))).toEqual([
      'USD Coin',
      'USDC',
      '2',
      6,
    ]);
    expect(await wallet.getChainId()).toBe(8453);
    expect(await read('DOMAIN_SEPARATOR')).toBe(domainSeparator({ domain: TOKEN_DOMAIN }));
  });

  it.each(['bytes', 'vrs'] as const)('moves an authorised amount, signature as %s, and says so', async (form) => {
    const authorization = makeAuthorization(payer, payee.address);
    const before = await chain.getBalance(payee.address);
    const receipt = await submit(wallet, authorization, await signAuthorization(payer, authorization), { form });
    expect(await chain.getBalance(payee.address)).toBe(before + 1000n);
    expect(await isUsed(authorization.nonce)).toBe(true);
    const events = parseEventLogs({ abi: TOKEN_ABI, logs: receipt.logs });
    expect(events.map(({ eventName, args }) => ({ eventName, args }))).toEqual([
      { eventName: 'AuthorizationUsed', args: { authorizer: payer.address, nonce: authorization.nonce } },
      { eventName: 'Transfer', args: { from: payer.address, to: payee.address, value: 1000n } },
    ]);
    expect(events.every(({ address }) => address === TOKEN_ADDRESS.toLowerCase())).toBe(true);
  });

  it('refuses a nonce that was used', async () => {
    const authorization = makeAuthorization(payer, payee.address);
    const signature = await signAuthorization(payer, authorization);
    await submit(wallet, authorization, signature);
    await expect(submit(wallet, authorization, signature)).rejects.toThrow('authorization is used or canceled');
    const other = { ...authorization, value: 2000n };
    await expect(submit(wallet, other, await signAuthorization(payer, other))).rejects.toThrow('used or canceled');
  });

  it('takes an authorisation after validAfter and before validBefore alone', async () => {
    const now = BigInt(await chain.getTime());
    const expired = makeAuthorization(payer, payee.address, { validBefore: now });
    await expect(submit(wallet, expired, await signAuthorization(payer, expired))).rejects.toThrow('is expired');
    const early = makeAuthorization(payer, payee.address, { validAfter: now + 60n });
    const signature = await signAuthorization(payer, early);
    await expect(submit(wallet, early, signature)).rejects.toThrow('is not yet valid');
    await chain.undoAfter(async () => {
      await chain.setTime(Number(now) + 61);
      await submit(wallet, early, signature);
    });
  });

  it.each([
    ['another name', { name: 'USDC' }],
    ['another version', { version: '1' }],
    ['another chain', { chainId: 84532 }],
    ['another token', { verifyingContract: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42' }],
  ])('refuses a signature over the domain of %s', async (_, domain) => {
    const authorization = makeAuthorization(payer, payee.address);
    const signature = await signAuthorization(payer, authorization, { domain });
    await expect(submit(wallet, authorization, signature)).rejects.toThrow('invalid signature');
    expect(await isUsed(authorization.nonce)).toBe(false);
  });

  it('refuses what was changed after signing, and the second form of a signature', async () => {
    const authorization = makeAuthorization(payer, payee.address);
    const signature = await signAuthorization(payer, authorization);
    await expect(submit(wallet, { ...authorization, to: relay.address }, signature)).rejects.toThrow(
      'invalid signature',
    );
    const { r, s, yParity } = parseSignature(signature);
    const high = serializeSignature({ r, s: `0x${(CURVE_ORDER - BigInt(s)).toString(16)}`, yParity: 1 - yParity });
    await expect(submit(wallet, authorization, high)).rejects.toThrow("invalid signature 's' value");
    await expect(submit(wallet, authorization, concatHex([signature, '0x00']))).rejects.toThrow(
      'invalid signature length',
    );
  });

  it('refuses more than the payer has, and keeps the nonce unused', async () => {
    const authorization = makeAuthorization(payer, payee.address, { value: 10n ** 9n });
    const signature = await signAuthorization(payer, authorization);
    await expect(submit(wallet, authorization, signature)).rejects.toThrow('transfer amount exceeds balance');
    expect(await isUsed(authorization.nonce)).toBe(false);
  });

  it.each(['bytes', 'vrs'] as const)('lets the payee alone take what is signed to be taken (%s)', async (form) => {
    const authorization = makeAuthorization(payer, payee.address);
    const signature = await signAuthorization(payer, authorization, { primaryType: 'ReceiveWithAuthorization' });
    const options = { form, functionName: 'receiveWithAuthorization' } as const;
    await expect(submit(wallet, authorization, signature, options)).rejects.toThrow('caller must be the payee');
    await submit(openWallet(chain.rpcUrl, payee), authorization, signature, options);
    expect(await isUsed(authorization.nonce)).toBe(true);
  });

  it.each(['bytes', 'vrs'] as const)('lets the payer take an authorisation back (%s)', async (form) => {
    const authorization = makeAuthorization(payer, payee.address);
    const signature = await payer.signTypedData({
      domain: TOKEN_DOMAIN,
      types: TOKEN_TYPES,
      primaryType: 'CancelAuthorization',
      message: { authorizer: payer.address, nonce: authorization.nonce },
    });
    const contract = { address: TOKEN_ADDRESS, abi: TOKEN_ABI, functionName: 'cancelAuthorization' } as const;
    const hash =
      form === 'bytes'
        ? await wallet.writeContract({ ...contract, args: [payer.address, authorization.nonce, signature] })
        : await wallet.writeContract({
            ...contract,
            args: [payer.address, authorization.nonce, ...splitSignature(signature)],
          });
    const { logs } = await wallet.waitForTransactionReceipt({ hash });
    expect(parseEventLogs({ abi: TOKEN_ABI, logs }).map(({ eventName, args }) => ({ eventName, args }))).toEqual([
      { eventName: 'AuthorizationCanceled', args: { authorizer: payer.address, nonce: authorization.nonce } },
    ]);
    const late = submit(wallet, authorization, await signAuthorization(payer, authorization));
    await expect(late).rejects.toThrow('used or canceled');
  });

  it('neither makes nor loses money', async () => {
    const logs = await wallet.getContractEvents({
      address: TOKEN_ADDRESS,
      abi: TOKEN_ABI,
      eventName: 'Transfer',
      fromBlock: 0n,
      strict: true,
    });
    const balances = new Map<string, bigint>();
    for (const { args } of logs) {
      balances.set(args.from, (balances.get(args.from) ?? ((await read('totalSupply')) as bigint)) - args.value);
      balances.set(args.to, (balances.get(args.to) ?? 0n) + args.value);
    }
    for (const [address, balance] of balances) expect(await chain.getBalance(address)).toBe(balance);
    expect([...balances.values()].reduce((sum, one) => sum + one)).toBe(await read('totalSupply'));
  });
});
