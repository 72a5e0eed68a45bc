// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// configMapKind returns the ConfigMaps of boxes as a kind of children. Pods are indexed by their box.
func configMapKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer, pods cache.Indexer) *children.Kind {
	kind := children.NewKind(modelboxapply.Kind(childkinds.ConfigMap), informer,
		func(namespace string) children.Client[*corev1.ConfigMap] {
			return cluster.CoreV1().ConfigMaps(namespace)
		})
	kind.Untrimmed = untrimmedConfigMap
	kind.InUse = PodMounts{pods}.isConfigMapInUse
	return kind
}

// isConfigMapInUse returns whether pods of the box have a ConfigMap that the box no longer asks for, or may still get it.
func (m PodMounts) isConfigMapInUse(box types.NamespacedName, child children.Object, result *children.Result) (bool, error) {
	isIt := func(volume corev1.Volume) bool {
		return volume.ConfigMap != nil && volume.ConfigMap.Name == child.GetName()
	}
	candidate := AsWorkload(result.Child(childkinds.Deployment.GroupVersionKind, helper.CandidateName(box.Name)))
	if candidate != nil && slices.ContainsFunc(candidate.PodTemplate().Spec.Volumes, isIt) {
		return true, nil // It stays as long as the candidate, even if the box no longer asks for a candidate.
	}
	return m.IsMounted(box, workloadIn(result, box.Name), isIt)
}

// digestManager is the manager of an entry of managed fields that marks a ConfigMap with digests in place of its data. No API
// server accepts such an entry, so no client can make one.
const digestManager = render.FieldManager + "-data"

// trimConfigMap replaces the data of a ConfigMap by digests, because the box has the data. It returns the entry of managed fields
// that says so.
func trimConfigMap(configMap *corev1.ConfigMap) metav1.ManagedFieldsEntry {
	if !isTrimmed(configMap) {
		for key, value := range configMap.Data {
			configMap.Data[key] = fields.Digest(value)
		}
		for key, value := range configMap.BinaryData {
			configMap.BinaryData[key] = []byte(fields.Digest(string(value)))
		}
	}
	return metav1.ManagedFieldsEntry{Manager: digestManager}
}

func isTrimmed(configMap *corev1.ConfigMap) bool {
	return slices.ContainsFunc(configMap.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == digestManager && entry.Operation == ""
	})
}

// untrimmedConfigMap returns a ConfigMap of the cache with the rendered files whose digests it has, and other contents in place of
// all other files. It does not change the ConfigMap, but shares its memory.
func untrimmedConfigMap(live children.Object, rendered *unstructured.Unstructured) children.Object {
	trimmed := live.(*corev1.ConfigMap)
	if !isTrimmed(trimmed) {
		return trimmed
	}
	data, binaryData := modelboxrender.RenderedFiles(rendered)
	configMap := *trimmed
	configMap.Data = untrimmedFiles(trimmed.Data, data)
	configMap.BinaryData = untrimmedFiles(trimmed.BinaryData, binaryData)
	return &configMap
}

// untrimmedFiles returns a file for each digest: the wanted file if it has this digest, and other contents if it does not.
func untrimmedFiles[T string | []byte](digests, wanted map[string]T) map[string]T {
	files := make(map[string]T, len(digests))
	for key, digest := range digests {
		content := string(wanted[key])
		if fields.Digest(content) != string(digest) {
			content += string(digest)
		}
		files[key] = T(content)
	}
	return files
}
