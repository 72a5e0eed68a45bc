// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package corevalidation compares the rules for pod templates, Services, autoscalers and NetworkPolicies that the product restates
// with the rules of Kubernetes itself, which only this module can import. It has only tests.
package corevalidation
