import { randomInt } from 'node:crypto';

/** What a browser shows after it has followed every redirect. */
export interface Page {
  url: URL;
  status: number;
  headers: Headers;
  text: string;
}

interface Cookie {
  name: string;
  value: string;
  path: string;
  sameSite: string;
  /** Of the header, in lower case. */
  attributes: string[];
}

const site = ({ hostname }: URL) => hostname;

/**
 * As much of a browser as sign-ins need: cookies by host, and SameSite by the rules of RFC 6265bis (5.2 and 5.8.3). A
 * navigation is cross-site when another site began it or stands in its chain of redirects: then Strict cookies stay at
 * home, and Lax ones come along with GET only. Ports make no other site.
 */
export class Browser {
  readonly #jars = new Map<string, Cookie[]>();
  readonly #headers = { 'X-Forwarded-For': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}` };
  /** Each URL that was asked for. */
  readonly visited: URL[] = [];

  /** Opens an address that was typed, or a link on a page of somebody's. */
  open(url: string | URL, from?: URL): Promise<Page> {
    return this.navigate('GET', new URL(url), from);
  }

  /** Sends the form on a page. */
  submit(page: Page, fields: Record<string, string>): Promise<Page> {
    const [, action] = /<form method="post" action="([^"]+)"/.exec(page.text) ?? [];
    if (action === undefined) throw new Error(`there is no form on ${page.url.href}: ${page.text}`);
    return this.navigate('POST', new URL(action, page.url), page.url, new URLSearchParams(fields));
  }

  /** Goes on to where a page sends the browser by itself (`Refresh`), which the page itself asks for. */
  goOn(page: Page): Promise<Page> {
    const [, next] = /^0; url=(.+)$/.exec(page.headers.get('refresh') ?? '') ?? [];
    if (next === undefined) throw new Error(`${page.url.href} sends nobody on: ${page.text}`);
    return this.navigate('GET', new URL(next, page.url), page.url);
  }

  cookie(url: string | URL, name: string): Cookie | undefined {
    return this.jar(new URL(url)).find((cookie) => cookie.name === name);
  }

  /** Puts a cookie there that the browser had before, or that somebody gave it. */
  keep(url: string | URL, cookie: Cookie): void {
    const host = new URL(url);
    this.#jars.set(host.hostname, [...this.jar(host).filter(({ name }) => name !== cookie.name), cookie]);
  }

  private async navigate(
    method: 'GET' | 'POST',
    url: URL,
    from: URL | undefined,
    body?: URLSearchParams,
    isCrossSite = from !== undefined && site(from) !== site(url),
  ): Promise<Page> {
    this.visited.push(url);
    const cookies = this.jar(url).filter(
      ({ path, sameSite }) =>
        url.pathname.startsWith(path) &&
        (!isCrossSite || (sameSite === 'lax' && method === 'GET') || sameSite === 'none'),
    );
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        ...this.#headers,
        ...(cookies.length > 0 && {
          Cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
        }),
      },
      ...(body && { body }),
    });
    for (const line of response.headers.getSetCookie()) this.take(url, line);
    const text = await response.text();
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) {
      return { url, status: response.status, headers: response.headers, text };
    }
    const next = new URL(location, url);
    return this.navigate('GET', next, url, undefined, isCrossSite || site(next) !== site(url));
  }

  private jar({ hostname }: URL): Cookie[] {
    return this.#jars.get(hostname) ?? [];
  }

  private take(url: URL, line: string): void {
    const [pair, ...attributes] = line.split(';').map((part) => part.trim());
    const at = pair!.indexOf('=');
    const valueOf = (name: string) =>
      attributes.find((each) => each.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
    const cookie = {
      name: pair!.slice(0, at),
      value: pair!.slice(at + 1),
      path: valueOf('path') ?? '/',
      sameSite: valueOf('samesite')?.toLowerCase() ?? 'lax',
      attributes: attributes.map((each) => each.toLowerCase()),
    };
    this.keep(url, cookie);
    const expires = valueOf('expires');
    const isOver = valueOf('max-age') === '0' || (expires !== undefined && Date.parse(expires) < Date.now());
    if (isOver) {
      const left = this.jar(url).filter(({ name }) => name !== cookie.name);
      this.#jars.set(url.hostname, left);
    }
  }
}
