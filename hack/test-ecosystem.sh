#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the tests with programs of the ecosystem, and writes a page with the results: hack/test-ecosystem.sh <page>

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

page=$1
status=0

hack/go-test.sh ecosystem-files hack/clients ./ecosystem -count=1 || status=1
echo "testing pkg/e2e/clients"
# What is no event is from the control plane.
hack/test-e2e.sh -json ./pkg/e2e/clients >_output/test/ecosystem-clients.events || status=1
hack/go-test.sh ecosystem-programs . ./pkg/e2e/ecosystem -count=1 -timeout 60m || status=1

go -C hack/tools build -o "${PWD}/_output/tools/ecosystemresults" ./ecosystemresults
_output/tools/ecosystemresults hack _output/test/ecosystem-files.json _output/test/ecosystem-clients.events _output/test/ecosystem-programs.json >_output/test/ecosystem.md
mv _output/test/ecosystem.md "${page}"
exit "${status}"
