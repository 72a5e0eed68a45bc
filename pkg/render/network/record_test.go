// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// recordedNetwork has everything that a record has, and what none has.
func recordedNetwork(changes ...func(*modelv1.Network)) *modelv1.Network {
	network := &modelv1.Network{
		ObjectMeta: metav1.ObjectMeta{
			Name: "lan", Namespace: "shop", UID: "4ec5d55a-0000-4000-8000-000000000000", Generation: 7,
			CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0)),
			ResourceVersion:   "42",
			Labels:            map[string]string{"team": "checkout"},
			Annotations:       map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "note": "keep"},
			OwnerReferences:   []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "1"}},
			Finalizers:        []string{modelv1.NetworkProtectionFinalizer},
			ManagedFields:     []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		},
		Spec: modelv1.NetworkSpec{
			CIDR: "10.10.0.0/24", Gateway: "10.10.0.1", Type: modelv1.NetworkTypeVLAN, Master: "eth1", VLAN: 7, MTU: 1400,
			Routes: []string{"10.20.0.0/16"},
		},
		Status: modelv1.NetworkStatus{UsedAddresses: 3},
	}
	modelv1.SetObjectDefaults_Network(network)
	for _, change := range changes {
		change(network)
	}
	return network
}

// definitionOf returns the NetworkAttachmentDefinition of the network.
func definitionOf(t *testing.T, network *modelv1.Network) *unstructured.Unstructured {
	t.Helper()
	children, err := Children(network)
	if err != nil || len(children) != 1 {
		t.Fatalf("got %d children, %v", len(children), err)
	}
	return children[0]
}

// readRecordOf returns the network that its NetworkAttachmentDefinition records.
func readRecordOf(t *testing.T, network *modelv1.Network) *modelv1.Network {
	t.Helper()
	read, err := ReadRecord(definitionOf(t, network).GetAnnotations()[modelv1.RecordAnnotation])
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestRecordIsTheNetworkWithoutWhatItsStoreKnows(t *testing.T) {
	network := recordedNetwork()
	read := readRecordOf(t, network)
	if diff := cmp.Diff(recordedNetwork(), network); diff != "" {
		t.Errorf("recording changed the network (-before +after):\n%s", diff)
	}
	want := recordedNetwork(func(network *modelv1.Network) {
		network.ResourceVersion, network.ManagedFields, network.Status = "", nil, modelv1.NetworkStatus{}
	})
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRecordChangesNoHash(t *testing.T) {
	before, after := definitionOf(t, recordedNetwork()), definitionOf(t, recordedNetwork(func(network *modelv1.Network) { network.Labels["team"] = "cart" }))
	if before.GetAnnotations()[modelv1.RecordAnnotation] == after.GetAnnotations()[modelv1.RecordAnnotation] {
		t.Error("a label changed and the record did not")
	}
	if render.Hash(before) != render.Hash(after) {
		t.Errorf("a label of the network changed the hash from %s to %s", render.Hash(before), render.Hash(after))
	}
}

func TestRecordLeavesRoomForOtherAnnotations(t *testing.T) {
	noise := make([]byte, 250<<10)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	network := recordedNetwork(func(network *modelv1.Network) { network.Annotations["large"] = string(noise) })
	size := 0
	for key, value := range definitionOf(t, network).GetAnnotations() {
		size += len(key) + len(value)
	}
	const leftToOthers = 8 << 10
	if limit := apivalidation.TotalAnnotationSizeLimitB - leftToOthers; size > limit {
		t.Errorf("the annotations have %d bytes, want at most %d", size, limit)
	}
	read := readRecordOf(t, network)
	if diff := cmp.Diff(network.Spec, read.Spec); diff != "" || read.UID != network.UID || read.Labels["team"] != "checkout" || read.Annotations != nil {
		t.Errorf("the record is %v, spec -want +got:\n%s", read.ObjectMeta, diff)
	}
}

// What an earlier release recorded is read by every later one.
func TestReadRecordOfAnEarlierRelease(t *testing.T) {
	value, err := os.ReadFile("testdata/record/v1.txt")
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadRecord(strings.TrimSpace(string(value)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := yaml.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/record/v1.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
