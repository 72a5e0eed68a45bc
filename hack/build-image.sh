#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds the image of the Dockerfile without a container engine: hack/build-image.sh <name> <output>
# What is in the image is read from the Dockerfile. What this script does not understand there fails, and so does an image that it
# would be built from.

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
