// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package corevalidation holds the rules for pod templates and Services that the product restates against those of
// Kubernetes itself, which only this module can import. There is nothing in it but tests.
package corevalidation
