#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when pkg/cli/dashboard/web/dist is not what the sources of the page are built into, or when the lock file of npm names a
# registry. Without Node.js 20.19 or newer and npm, or without a connection to the registry, it says so and does not build.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../pkg/cli/dashboard/web"

if grep --quiet '"resolved"' package-lock.json; then
  echo "ERROR: pkg/cli/dashboard/web/package-lock.json names a registry, remove the fields \"resolved\""
  exit 1
fi

if ! command -v npm >/dev/null || ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null; then
  echo "there is no Node.js 20.19 or newer with npm: the page of the dashboard is not checked"
  exit 0
fi

# A folder of its own leaves the packages of the developer as they are.
dir=$(mktemp -d)
trap 'rm -rf "${dir}"' EXIT
git ls-files -z --cached --others --exclude-standard -- . ':!dist' ':!test' | xargs -0 cp --parents --target-directory="${dir}"
if ! (cd "${dir}" && npm ci --ignore-scripts --prefer-offline) >"${dir}/log" 2>&1; then
  if grep --quiet --extended-regexp 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH' "${dir}/log"; then
    echo "the registry of npm cannot be reached: the page of the dashboard is not checked"
    exit 0
  fi
  cat "${dir}/log"
  exit 1
fi
(cd "${dir}" && npm run build) >"${dir}/log" 2>&1 || { cat "${dir}/log"; exit 1; }
if ! diff --recursive --brief "${dir}/dist" dist; then
  echo "ERROR: pkg/cli/dashboard/web/dist is not what the sources are built into, run there: npm ci && npm run build"
  exit 1
fi
