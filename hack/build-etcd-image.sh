#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds an image of the etcd that the server is built with, as an OCI archive, for tests: hack/build-etcd-image.sh <output>
# It is named as in artifacts/examples/etcd.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

output=$1 binary=_output/images/binaries/etcd

CGO_ENABLED=0 hack/go-build.sh . go.etcd.io/etcd/server/v3 "${binary}" -trimpath -buildvcs=false -ldflags '-s -w'
hack/go-build.sh hack/tools ./ociarchive _output/tools/ociarchive
_output/tools/ociarchive -name "etcd:$(go list -m -f '{{.Version}}' go.etcd.io/etcd/server/v3)" \
  -platform "linux/$(go env GOARCH)" -entrypoint '["/usr/local/bin/etcd"]' -output "${output}" "${binary}=/usr/local/bin/etcd"
