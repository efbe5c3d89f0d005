import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Injectable, Param, Res, StreamableFile } from '@nestjs/common';
import { ApiExcludeEndpoint, type OpenAPIObject } from '@nestjs/swagger';
import type { Response } from 'express';
import { NotFound } from '../kernel/errors.js';
import { READS } from '../rate-limit/limits.js';
import { Route } from './route.js';

/** Makes the OpenAPI document when it is first asked for, so that no start pays for it. */
@Injectable()
export class Documentation {
  #make: (() => OpenAPIObject) | undefined;
  #document: OpenAPIObject | undefined;

  madeBy(make: () => OpenAPIObject): void {
    this.#make = make;
  }

  get document(): OpenAPIObject {
    if (!this.#make) throw new Error('the application has not been started');
    return (this.#document ??= this.#make());
  }
}

@Controller()
export class DocumentationController {
  constructor(private readonly documentation: Documentation) {}

  /** The OpenAPI 3.1 document of this API. */
  @Get('openapi.json')
  @ApiExcludeEndpoint()
  @Route({ auth: 'public', limit: READS, returns: { 200: { 'application/json': '{}' } } })
  openApi(): OpenAPIObject {
    return this.documentation.document;
  }

  /** The API reference as a page. */
  @Get('docs')
  @ApiExcludeEndpoint()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Route({ auth: 'public', limit: READS, returns: { 200: { 'text/html': '<!doctype html>' } } })
  page(): string {
    return PAGE;
  }

  /** What the page is made of; served from here, so that it works where the internet does not. */
  @Get('docs/:asset')
  @ApiExcludeEndpoint()
  @Route({
    auth: 'public',
    limit: READS,
    returns: { 200: { 'text/javascript': 'SwaggerUIBundle({})' } },
    errors: [NotFound],
  })
  asset(
    @Param('asset') name: string,
    @Res({ passthrough: true }) response: Response,
  ): StreamableFile | string {
    if (!ASSETS.has(name)) throw new NotFound();
    response.type(name);
    if (name === 'start.js') return START;
    return new StreamableFile(createReadStream(join(dirname(require.resolve('swagger-ui-dist')), name)));
  }
}

const require = createRequire(import.meta.url);
const ASSETS = new Set(['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js']);

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true });`;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Consigliere API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<main>
<h1>Consigliere API</h1>
<div id="reference">This reference needs JavaScript. Without it, read <a href="/openapi.json">the OpenAPI document</a>.</div>
</main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;
