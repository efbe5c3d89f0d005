import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Headers, Param, Res, StreamableFile } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Route } from '../../platform/http/route.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { READS, type RouteLimit } from '../../platform/rate-limit/limits.js';

/** The pages of the dashboard (clients/dashboard/src/router.tsx): each is the one document, whose script shows what the path names. */
const PAGES = [
  '/',
  'account',
  'agents',
  'approvals/:approvalId',
  'connections',
  'directives',
  'directives/:directiveId',
  'documents',
  'escalations',
  'escalations/:escalationId',
  'guardian',
  'orders',
  'orders/:standingOrderId',
  'overview',
  'packs',
  'people',
  'report',
  'schedules',
  'sent',
  'service',
  'settings',
  'settings/api',
  'setup',
  'tier',
  'workspaces',
];

/** Scripts, styles and requests of our own alone; nothing inline, nothing from elsewhere. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Files, the same for everybody: refused to all behind one address, they would keep a person from the kill switch. */
const DOCUMENTS: RouteLimit = { ...READS, neverRefused: true };
/** A page loads a few of them at once. */
const ASSETS: RouteLimit = { limit: 600, windowSeconds: 60, neverRefused: true };
const NAME = /^[\w-]{1,100}\.(js|css|svg|woff2)$/;

/** Serves what `npm run build` has made of clients/dashboard, with the compressed copy of each file beside it. */
@ApiExcludeController()
@Controller()
export class DashboardController {
  readonly #folder = join(
    dirname(createRequire(import.meta.url).resolve('@consigliere/dashboard/package.json')),
    'dist',
  );

  /** The document of every page, whose script says so where there is nothing of that id. */
  @Get(PAGES)
  @Header('Content-Security-Policy', POLICY)
  @Header('Cache-Control', 'no-cache')
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Route({
    auth: 'public',
    limit: DOCUMENTS,
    returns: { 200: { 'text/html': '<!doctype html>' } },
  })
  page(): Promise<string> {
    return readFile(join(this.#folder, 'index.html'), 'utf8');
  }

  /** A script, style or picture, whose name changes with its content. */
  @Get('assets/:name')
  @Route({
    auth: 'public',
    limit: ASSETS,
    returns: { 200: { 'text/javascript': 'export {};' } },
    errors: [NotFound],
  })
  async asset(
    @Param('name') name: string,
    @Headers('accept-encoding') accepted: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    if (!NAME.test(name)) throw new NotFound();
    const isCompressed = /\bgzip\b/.test(accepted ?? '') && !name.endsWith('.svg');
    const file = await readFile(join(this.#folder, 'assets', isCompressed ? `${name}.gz` : name)).catch(
      (error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new NotFound() : error;
      },
    );
    response.type(name);
    response.vary('Accept-Encoding');
    response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
    if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
    return new StreamableFile(file);
  }
}
