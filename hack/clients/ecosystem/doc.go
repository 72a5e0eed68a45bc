// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package ecosystem has the tests of the files for other programs: what artifacts/argocd, artifacts/k9s and artifacts/examples
// have for Argo CD, k9s, Flux and admission policies.
package ecosystem
