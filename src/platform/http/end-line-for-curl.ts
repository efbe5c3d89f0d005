import type { NextFunction, Request, Response } from 'express';

/**
 * Ends a JSON answer with a line break when curl asks, so that the next prompt of the terminal starts on a line of its own.
 * It is added as the answer is sent: what is stored for a replay, and what other clients get, is as it was.
 */
export function endLineForCurl(request: Request, response: Response, next: NextFunction): void {
  if (request.headers['user-agent']?.startsWith('curl/')) {
    const send = response.send.bind(response);
    response.send = (body?: unknown) => {
      const isJson = /[/+]json/.test(String(response.getHeader('Content-Type')));
      return send(typeof body === 'string' && isJson && !body.endsWith('\n') ? `${body}\n` : body);
    };
  }
  next();
}
