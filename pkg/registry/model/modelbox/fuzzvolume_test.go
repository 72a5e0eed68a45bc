// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
)

// maxConfigMapBytes is how much data Kubernetes takes in a ConfigMap.
const maxConfigMapBytes = 1 << 20

func expectValidConfigMap(t *testing.T, configMap *corev1.ConfigMap) {
	t.Helper()
	for _, message := range apivalidation.NameIsDNSSubdomain(configMap.Name, false) {
		t.Errorf("the name of the ConfigMap %s", message)
	}
	size := 0
	for key, value := range configMap.Data {
		for _, message := range utilvalidation.IsConfigMapKey(key) {
			t.Errorf("the key %q of the ConfigMap: %s", key, message)
		}
		size += len(value)
	}
	if size > maxConfigMapBytes {
		t.Errorf("the ConfigMap has %d bytes", size)
	}
}

func expectValidClaim(t *testing.T, name string, spec *corev1.PersistentVolumeClaimSpec) {
	t.Helper()
	for _, message := range apivalidation.NameIsDNSSubdomain(name, false) {
		t.Errorf("the name of the PersistentVolumeClaim %s", message)
	}
	if size := spec.Resources.Requests[corev1.ResourceStorage]; size.Sign() <= 0 {
		t.Errorf("the PersistentVolumeClaim asks for a size of %s", &size)
	}
	if len(spec.AccessModes) == 0 {
		t.Error("the PersistentVolumeClaim has no access modes")
	}
}
