#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when objects that releases stored can no longer be read, when the bytes of today's types are not those in
# pkg/apis/model/v1/testdata/HEAD, or when an unchanged box renders into other children than before.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

go test ./pkg/apis/model/v1 -run 'TestCompatibility'
# "make test" runs the tests that -short leaves out.
go test -short ./pkg/render/...
