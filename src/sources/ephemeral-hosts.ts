/** Tunnels to somebody's own machine: the address is gone, or somebody else's, as soon as the tunnel closes. */
const TUNNEL_DOMAINS = [
  ...['ngrok.io', 'ngrok.app', 'ngrok.dev', 'ngrok-free.app', 'ngrok-free.dev', 'trycloudflare.com', 'loca.lt'],
  ...['localtunnel.me', 'localhost.run', 'lhr.life', 'lhr.rocks', 'serveo.net', 'serveousercontent.com', 'bore.pub'],
  ...['pinggy.link', 'pinggy.io', 'tunnelmole.net', 'tunnelto.dev', 'zrok.io', 'devtunnels.ms', 'app.github.dev'],
  ...['gitpod.io', 'webcontainer.io', 'csb.app'],
];

/** Returns whether a host is a tunnel of the known services. Takes a host name in lower case. */
export function isEphemeralHost(hostname: string): boolean {
  return TUNNEL_DOMAINS.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
}
