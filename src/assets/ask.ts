/**
 * Asks a provider for its terms from the visitor's browser, without paying, and compares them with the record. Without
 * JavaScript there is no button; the curl command is beside its place.
 */
const WAIT_MS = 15_000;
const CHALLENGE_MAX = 64_000;
const ELSEWHERE = 'Run the curl command instead: it asks the same, and nothing is paid.';

interface Ask {
  url: string;
  method: string;
  headers?: [string, string][];
  body?: string;
}

/** The shown fields of an answer of `/agent/check`. */
interface Check {
  verdict: string;
  severity: string;
  summary: string;
  offers: { network?: string; network_id?: string; price_usdc?: string; amount?: string; pay_to?: string }[];
  detail?: string;
}

for (const place of document.querySelectorAll<HTMLElement>('[data-ask]')) {
  const button = document.createElement('button');
  const status = document.createElement('span');
  button.type = 'button';
  button.textContent = 'Ask for the 402';
  status.setAttribute('role', 'status');
  button.addEventListener('click', async () => {
    button.disabled = true;
    status.textContent = 'Asking the provider …';
    status.textContent = await ask(JSON.parse(place.dataset.ask ?? ''));
    button.disabled = false;
  });
  place.append(button, ' ', status);
}

/** Asks the provider, and returns the outcome in words. */
async function ask({ url, method, headers = [], body }: Ask): Promise<string> {
  let challenge: string;
  try {
    const response = await fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(WAIT_MS),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    });
    if (response.status !== 402)
      return `It answered ${response.status} and asked for no payment. Nothing was compared.`;
    challenge = response.headers.get('payment-required') ?? (await response.text());
  } catch {
    return `Your browser got no answer that it may read: the provider does not allow it, or did not answer. ${ELSEWHERE}`;
  }
  if (challenge.trim() === '' || challenge.length > CHALLENGE_MAX) {
    return `It answered 402, but your browser may not read its terms. ${ELSEWHERE}`;
  }
  try {
    const response = await fetch('/agent/check', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url, method, challenge }),
    });
    const { verdict, severity, summary, offers = [], detail }: Check = await response.json();
    if (!response.ok) return `It answered 402, but its terms cannot be read from here: ${detail} ${ELSEWHERE}`;
    const asks = offers.map(
      (offer) =>
        `${offer.price_usdc ? `${offer.price_usdc} USDC` : `amount ${offer.amount}`} on ${offer.network ?? offer.network_id} to ${offer.pay_to}`,
    );
    const danger = severity === 'danger' ? 'Do not pay. ' : '';
    return `It asks ${asks.join(', or ') || 'for nothing that can be compared'}. ${danger}Compared with the record: ${verdict}. ${summary}`;
  } catch {
    return 'The comparison failed. Try again later.';
  }
}
