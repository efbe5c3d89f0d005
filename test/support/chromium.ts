import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import axe from 'axe-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/** Where a Chromium is on this machine; undefined when there is none. */
export function chromiumPath(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

type Params = Record<string, unknown>;
interface Message {
  id?: number;
  method?: string;
  sessionId?: string;
  params?: any;
  result?: any;
  error?: { message: string };
}

/** A real browser without a window, driven over its DevTools protocol. */
export class Chromium {
  #last = 0;
  readonly #answers = new Map<number, (message: Message) => void>();
  readonly #listeners = new Set<(message: Message) => void>();

  private constructor(
    private readonly process: ChildProcess,
    private readonly socket: WebSocket,
    private readonly profile: string,
  ) {
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data)) as Message;
      if (message.id === undefined) for (const listener of this.#listeners) listener(message);
      else this.#answers.get(message.id)?.(message);
    });
  }

  static async start(path: string): Promise<Chromium> {
    const profile = await mkdtemp(join(tmpdir(), 'consigliere-chromium-'));
    const args = [
      '--headless=new',
      // Tests may run as root, for whom Chromium has no sandbox; it opens pages of this machine only.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--hide-scrollbars',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      'about:blank',
    ];
    const child = spawn(path, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const url = await new Promise<string>((resolve, reject) => {
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        const [, address] = /DevTools listening on (ws:\S+)/.exec(said) ?? [];
        if (address !== undefined) resolve(address);
      });
      child.once('exit', (code) => reject(new Error(`Chromium ended with ${code}: ${said}`)));
      child.once('error', reject);
    });
    const socket = new WebSocket(url);
    await new Promise((open, fail) => {
      socket.addEventListener('open', open, { once: true });
      socket.addEventListener('error', fail, { once: true });
    });
    return new Chromium(child, socket, profile);
  }

  /** A page as on a phone: 390 pixels wide unless said, without any script of the page. */
  async phone(scheme: 'light' | 'dark' = 'light', width = PHONE_WIDTH): Promise<BrowserPage> {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new BrowserPage(this, sessionId as string);
    await page.send('Page.enable');
    await page.send('Network.enable');
    await page.send('Log.enable');
    await page.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 844,
      deviceScaleFactor: 1,
      mobile: true,
    });
    await page.send('Emulation.setScriptExecutionDisabled', { value: true });
    await page.send('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    });
    return page;
  }

  async send(method: string, params: Params = {}, sessionId?: string): Promise<any> {
    const id = ++this.#last;
    this.socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
    const { result, error } = await new Promise<Message>((answer) => this.#answers.set(id, answer));
    this.#answers.delete(id);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  listen(listener: (message: Message) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    const exited = new Promise((exit) => this.process.once('exit', exit));
    await this.send('Browser.close').catch(() => this.process.kill());
    await exited;
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

export const PHONE_WIDTH = 390;
/** The narrowest that pages are made for. */
export const SMALL_PHONE_WIDTH = 320;

export interface Layout {
  width: number;
  background: string;
  smallButtons: string[];
  smallText: number;
  cut: string[];
}

export class BrowserPage {
  /** What the page has asked for, and what the browser has refused it or complained of. */
  readonly requests: string[] = [];
  readonly complaints: string[] = [];

  constructor(
    private readonly browser: Chromium,
    private readonly sessionId: string,
  ) {
    browser.listen(({ method, params, sessionId: own }) => {
      if (own !== sessionId) return;
      if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
      if (method === 'Log.entryAdded') this.complaints.push(params.entry.text);
    });
  }

  send(method: string, params: Params = {}): Promise<any> {
    return this.browser.send(method, params, this.sessionId);
  }

  /** Opens an address and waits until all of it is there. */
  async open(url: string): Promise<void> {
    await this.loaded(() => this.send('Page.navigate', { url }));
  }

  /** Shows this HTML, as a mail program does. */
  async show(html: string): Promise<void> {
    const { frameTree } = await this.send('Page.getFrameTree');
    await this.send('Page.setDocumentContent', { frameId: frameTree.frame.id, html });
  }

  /** Presses what this selector finds, with the mouse, and waits for the page that it leads to. */
  async press(selector: string): Promise<void> {
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView()`);
    const { x, y } = await this.evaluate<{ x: number; y: number }>(
      `(() => { const { x, y, width, height } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
        return { x: x + width / 2, y: y + height / 2 }; })()`,
    );
    await this.loaded(async () => {
      for (const type of ['mousePressed', 'mouseReleased']) {
        await this.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
      }
    });
  }

  /** What would make the page hard to use on a phone of this width. */
  layout(phoneWidth: number): Promise<Layout> {
    return this.evaluate(`(() => {
      const all = [...document.body.querySelectorAll('*')];
      return {
        width: Math.max(document.documentElement.scrollWidth, document.body.scrollWidth),
        background: getComputedStyle(document.body).backgroundColor,
        smallButtons: [...document.querySelectorAll('button, a, summary, .confirm, input:not([type=checkbox], [hidden]), textarea')].filter((e) => e.getBoundingClientRect().height < 44).map((e) => e.outerHTML),
        smallText: [...document.querySelectorAll('p, li, td, h1, h2, label, input, textarea, summary')].filter((e) => parseFloat(getComputedStyle(e).fontSize) < 15).length,
        cut: all.filter((e) => e.getBoundingClientRect().right > ${phoneWidth} + 1).map((e) => e.outerHTML.slice(0, 100)),
      };
    })()`);
  }

  /** What axe finds at fault in the page, and where. */
  async faults(): Promise<string[]> {
    // The page itself has no script; axe waits for timers.
    await this.send('Emulation.setScriptExecutionDisabled', { value: false });
    await this.evaluate(`${axe.source};undefined`);
    const faults = await this.evaluate<string[]>(
      `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`,
    );
    await this.send('Emulation.setScriptExecutionDisabled', { value: true });
    return faults;
  }

  /** Types into what this selector finds. */
  async type(selector: string, text: string): Promise<void> {
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).focus()`);
    await this.send('Input.insertText', { text });
  }

  /** Types over what stands in what this selector finds. */
  async replace(selector: string, text: string): Promise<void> {
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).select()`);
    await this.type(selector, text);
  }

  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return result.value as T;
  }

  /** The words that a person sees. */
  words(): Promise<string> {
    return this.evaluate('document.body.innerText');
  }

  /** Makes the window this wide, as on a desk. */
  async widen(width: number): Promise<void> {
    await this.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 844,
      deviceScaleFactor: 1,
      mobile: false,
    });
  }

  /** The whole page, small in bytes. */
  async picture(format: 'webp' | 'png' = 'webp'): Promise<Buffer> {
    const { cssContentSize } = await this.send('Page.getLayoutMetrics');
    const { data } = await this.send('Page.captureScreenshot', {
      format,
      ...(format === 'webp' && { quality: 60 }),
      captureBeyondViewport: true,
      clip: { x: 0, y: 0, width: cssContentSize.width, height: Math.ceil(cssContentSize.height), scale: 1 },
    });
    return Buffer.from(data, 'base64');
  }

  private async loaded(act: () => Promise<unknown>): Promise<void> {
    const load = new Promise<void>((done) => {
      const stop = this.browser.listen(({ method, sessionId }) => {
        if (method !== 'Page.loadEventFired' || sessionId !== this.sessionId) return;
        stop();
        done();
      });
    });
    await act();
    await load;
  }
}
