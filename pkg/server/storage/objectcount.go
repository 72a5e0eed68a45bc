// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
)

// ObjectCountQuota makes the resource quotas of namespaces count boxes. Nothing but their number is known of them.
func ObjectCountQuota() admission.PluginInitializer {
	return quotaConfiguration{generic.NewConfiguration(nil, nil)}
}

type quotaConfiguration struct{ quota.Configuration }

// Initialize gives the configuration to the plugin that wants it.
func (q quotaConfiguration) Initialize(plugin admission.Interface) {
	if wants, ok := plugin.(initializer.WantsQuotaConfiguration); ok {
		wants.SetQuotaConfiguration(q.Configuration)
	}
}
