#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds the image of the Dockerfile without a container engine: hack/build-image.sh <name> <output>
# The Dockerfile says what is in the image. This script fails on a line that it does not understand, and on a FROM that names an image.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

name=$1 output=$2

flags=() copies=()
while read -r line; do
  if [[ -z "${line}" || "${line}" == "#"* || "${line}" == "FROM scratch" ]]; then
    continue
  elif [[ "${line}" =~ ^COPY\ ([^ -][^ ]*)\ (/[^ ]+)$ ]]; then
    copies+=("${BASH_REMATCH[1]}=${BASH_REMATCH[2]}")
  elif [[ "${line}" =~ ^USER\ ([^ ]+)$ ]]; then
    flags+=(-user "${BASH_REMATCH[1]}")
  elif [[ "${line}" =~ ^EXPOSE\ ([^ ]+)$ ]]; then
    flags+=(-expose "${BASH_REMATCH[1]}")
  elif [[ "${line}" =~ ^ENTRYPOINT\ (\[.*\])$ ]]; then
    flags+=(-entrypoint "${BASH_REMATCH[1]}")
  else
    echo "ERROR: hack/build-image.sh does not understand this line of the Dockerfile: ${line}"
    exit 1
  fi
done <Dockerfile

hack/build-release.sh

# The tool runs here, whatever the image is built for.
platform=linux/$(go env GOARCH)
GOOS='' GOARCH='' hack/go-build.sh hack/tools ./ociarchive _output/tools/ociarchive

mkdir -p "$(dirname "${output}")"
_output/tools/ociarchive -name "${name}" -platform "${platform}" -output "${output}" "${flags[@]}" "${copies[@]}"
echo "wrote ${output}: ${name} for ${platform}"
