#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when artifacts/headlamp is not what the sources of the plugin for Headlamp are built into, or when the lock file of npm names a
# registry. Without Node.js 20.19 or newer and the packages of npm in hack/headlamp, it says so and does not build: they are 850 MB.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

if grep --quiet '"resolved"' hack/headlamp/package-lock.json; then
  echo "ERROR: hack/headlamp/package-lock.json names a registry, remove the fields \"resolved\""
  exit 1
fi

if ! command -v npm >/dev/null || ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null; then
  echo "there is no Node.js 20.19 or newer with npm: the plugin for Headlamp is not checked"
  exit 0
fi
if [[ ! -d hack/headlamp/node_modules ]]; then
  echo "there are no packages of npm in hack/headlamp: the plugin for Headlamp is not checked"
  exit 0
fi
for package in @kinvolk/headlamp-plugin typescript; do
  version=$(node -p "require('./hack/headlamp/package-lock.json').packages['node_modules/${package}'].version")
  installed=$(node -p "require('./hack/headlamp/node_modules/${package}/package.json').version")
  if [[ ${version} != "${installed}" ]]; then
    echo "ERROR: hack/headlamp has ${package} ${installed} in place of ${version}, run there: npm ci --ignore-scripts"
    exit 1
  fi
done

# A folder of its own leaves the files of the developer as they are. The plugin has parts of the dashboard.
dir=$(mktemp -d)
trap 'rm -rf "${dir}"' EXIT
git ls-files -z --cached --others --exclude-standard -- hack/headlamp pkg/cli/dashboard/web/src | xargs -0 cp --parents --target-directory="${dir}"
ln -s "${PWD}/hack/headlamp/node_modules" "${dir}/hack/headlamp/node_modules"
(cd "${dir}/hack/headlamp" && npm run build) >"${dir}/log" 2>&1 || { cat "${dir}/log"; exit 1; }
if ! diff --recursive --brief "${dir}/artifacts/headlamp" artifacts/headlamp; then
  echo "ERROR: artifacts/headlamp is not what the sources are built into, run in hack/headlamp: npm ci --ignore-scripts && npm run build"
  exit 1
fi
