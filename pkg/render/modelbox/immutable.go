// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Immutable returns the difference between a live child of a box and the rendered child that no update can remove, because the
// field is immutable, such as "its selector is ...". It returns an empty string if there is none.
func Immutable(rendered *unstructured.Unstructured, live metav1.Object) string {
	switch live := live.(type) {
	case *appsv1.Deployment, *appsv1.DaemonSet:
		return ImmutableSelector(rendered, live)
	case *appsv1.StatefulSet:
		return immutableStatefulSet(rendered, live)
	case *batchv1.Job:
		return immutableJob(rendered, live)
	case *corev1.Service:
		return immutableClusterIP(rendered, live)
	case *corev1.ConfigMap:
		return immutableData(rendered, live)
	case *corev1.PersistentVolumeClaim:
		return immutableClaim(rendered, live)
	default:
		return ""
	}
}

// ImmutableSelector is Immutable for the selector of a workload.
func ImmutableSelector(rendered *unstructured.Unstructured, live metav1.Object) string {
	selector := SelectorOf(live)
	wanted, err := RenderedSelector(rendered)
	if err != nil {
		return err.Error()
	}
	if apiequality.Semantic.DeepEqual(selector, wanted) {
		return ""
	}
	return fmt.Sprintf("its selector is %q and cannot become %q", metav1.FormatLabelSelector(selector), metav1.FormatLabelSelector(wanted))
}

// immutableStatefulSet is Immutable for a StatefulSet.
func immutableStatefulSet(rendered *unstructured.Unstructured, live *appsv1.StatefulSet) string {
	if obstacle := ImmutableSelector(rendered, live); obstacle != "" {
		return obstacle
	}
	spec := &live.Spec
	if wanted, _, _ := unstructured.NestedString(rendered.Object, "spec", "serviceName"); spec.ServiceName != wanted {
		return fmt.Sprintf("its serviceName is %q and cannot become %q", spec.ServiceName, wanted)
	}
	if wanted, found, _ := unstructured.NestedString(rendered.Object, "spec", "podManagementPolicy"); found && string(spec.PodManagementPolicy) != wanted {
		return fmt.Sprintf("its podManagementPolicy is %q and cannot become %q", spec.PodManagementPolicy, wanted)
	}
	wanted, _, _ := unstructured.NestedSlice(rendered.Object, "spec", "volumeClaimTemplates")
	if got, want := claimsOfTemplates(spec.VolumeClaimTemplates), renderedClaims(wanted); got != want {
		return fmt.Sprintf("its volumeClaimTemplates are [%s] and cannot become [%s]", got, want)
	}
	return ""
}

// claimsOfTemplates returns the names and the sizes of claim templates. An update of a box cannot change anything else about them.
func claimsOfTemplates(claims []corev1.PersistentVolumeClaim) string {
	names := make([]string, 0, len(claims))
	for i := range claims {
		names = append(names, claims[i].Name+" "+claims[i].Spec.Resources.Requests.Storage().String())
	}
	return strings.Join(names, ", ")
}

func renderedClaims(objects []any) string {
	names := make([]string, 0, len(objects))
	for _, object := range objects {
		if object, ok := object.(map[string]any); ok {
			name, _, _ := unstructured.NestedString(object, "metadata", "name")
			size, _, _ := unstructured.NestedString(object, "spec", "resources", "requests", string(corev1.ResourceStorage))
			names = append(names, name+" "+size)
		}
	}
	return strings.Join(names, ", ")
}

// immutableJob is Immutable for a Job. Another client may have created the Job without the hash.
func immutableJob(rendered *unstructured.Unstructured, live *batchv1.Job) string {
	if live.Spec.Template.Annotations[modelv1.JobTemplateHashAnnotation] == renderedTemplateHash(rendered) {
		return ""
	}
	return "its pod template and its completions cannot change"
}

// immutableClusterIP is Immutable for a Service: a headless Service cannot get a clusterIP, and a Service with a clusterIP cannot
// become headless.
func immutableClusterIP(rendered *unstructured.Unstructured, live *corev1.Service) string {
	clusterIP, _, _ := unstructured.NestedString(rendered.Object, "spec", "clusterIP")
	wanted, has := clusterIP != corev1.ClusterIPNone, live.Spec.ClusterIP != corev1.ClusterIPNone
	switch {
	case has && !wanted:
		return "it has a cluster IP and cannot become headless"
	case wanted && !has:
		return "it is headless and cannot get a cluster IP"
	default:
		return ""
	}
}

// immutableData is Immutable for a ConfigMap with immutable data.
func immutableData(rendered *unstructured.Unstructured, live *corev1.ConfigMap) string {
	data, binaryData := RenderedFiles(rendered)
	if !ptr.Deref(live.Immutable, false) || maps.Equal(data, live.Data) && maps.EqualFunc(binaryData, live.BinaryData, bytes.Equal) {
		return ""
	}
	return "it is immutable and has other data"
}

// RenderedFiles returns the data and the binary data of a rendered ConfigMap.
func RenderedFiles(rendered *unstructured.Unstructured) (map[string]string, map[string][]byte) {
	data, _, _ := unstructured.NestedStringMap(rendered.Object, "data")
	encoded, _, _ := unstructured.NestedStringMap(rendered.Object, "binaryData")
	binaryData := make(map[string][]byte, len(encoded))
	for key, value := range encoded {
		binaryData[key], _ = base64.StdEncoding.DecodeString(value) // the render encoded it
	}
	return data, binaryData
}

// immutableClaim is Immutable for a claim: only its size can change.
func immutableClaim(rendered *unstructured.Unstructured, live *corev1.PersistentVolumeClaim) string {
	wanted, err := RenderedClaim(rendered)
	if err != nil {
		return err.Error()
	}
	if !slices.Equal(wanted.Spec.AccessModes, live.Spec.AccessModes) {
		return fmt.Sprintf("its access modes are %v and cannot become %v", live.Spec.AccessModes, wanted.Spec.AccessModes)
	}
	return OtherStorageClass(wanted, live)
}

// OtherStorageClass returns the difference if a claim has another storage class than the wanted one. It returns an empty string if
// the classes are equal or no class is wanted.
func OtherStorageClass(wanted, claim *corev1.PersistentVolumeClaim) string {
	class := ptr.Deref(claim.Spec.StorageClassName, "")
	if wanted.Spec.StorageClassName == nil || *wanted.Spec.StorageClassName == class {
		return ""
	}
	return fmt.Sprintf("its storage class is %q and cannot become %q", class, *wanted.Spec.StorageClassName)
}
