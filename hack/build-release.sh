#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds the server as it is released, into _output/release: static, and the same bytes wherever the same commit is built.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CGO_ENABLED=0 GOOS=linux
hack/go-build.sh . ./cmd/modelbox-apiserver _output/release/modelbox-apiserver -trimpath -buildvcs=false -ldflags "-s -w $(hack/version-ldflags.sh)"
