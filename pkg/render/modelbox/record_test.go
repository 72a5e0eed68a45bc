// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// recordedBox has everything that a record has, and what none has.
func recordedBox(changes ...func(*modelv1.ModelBox)) *modelv1.ModelBox {
	box := &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "shop", UID: "4ec5d55a-0000-4000-8000-000000000000", Generation: 7,
			CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0)),
			ResourceVersion:   "42",
			Labels:            map[string]string{"team": "checkout", "tier": "front"},
			Annotations:       map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "note": "keep"},
			OwnerReferences:   []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "1"}},
			Finalizers:        []string{"example.com/wait"},
			ManagedFields:     []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		},
		Spec:   modelv1.ModelBoxSpec{Image: "nginx:1.7.9", Annotations: map[string]string{"a": "b"}},
		Status: modelv1.ModelBoxStatus{Replicas: 3},
	}
	modelv1.SetObjectDefaults_ModelBox(box)
	for _, change := range changes {
		change(box)
	}
	return box
}

func record(t *testing.T, box *modelv1.ModelBox) string {
	t.Helper()
	value, err := Record(box)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func readRecord(t *testing.T, value string) *modelv1.ModelBox {
	t.Helper()
	box, err := ReadRecord(value)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestRecordIsTheBoxWithoutWhatItsStoreKnows(t *testing.T) {
	want := recordedBox(func(box *modelv1.ModelBox) {
		box.ResourceVersion, box.ManagedFields, box.Status = "", nil, modelv1.ModelBoxStatus{}
	})
	if got := readRecord(t, record(t, recordedBox())); !apiequality.Semantic.DeepEqual(want, got) {
		t.Errorf("-want +got:\n%s", cmp.Diff(want, got))
	}
}

func TestRecordOfEveryGoldenBox(t *testing.T) {
	for _, input := range goldenInputs(t) {
		for _, box := range readBoxes(t, input) {
			t.Run(input+"/"+box.Name, func(t *testing.T) {
				before := box.DeepCopy()
				value := record(t, box)
				if again := record(t, box.DeepCopy()); again != value {
					t.Errorf("the same box has the records\n%s\n%s", value, again)
				}
				if diff := cmp.Diff(before, box); diff != "" {
					t.Errorf("recording changed the box (-before +after):\n%s", diff)
				}
				read := readRecord(t, value)
				if !apiequality.Semantic.DeepEqual(box.Spec, read.Spec) {
					t.Errorf("spec, -want +got:\n%s", cmp.Diff(box.Spec, read.Spec))
				}
				for _, child := range children(t, box) {
					if got, want := child.GetAnnotations()[modelv1.RecordAnnotation], map[string]string{string(box.Spec.Workload): value}[child.GetKind()]; got != want {
						t.Errorf("%s has the record %q, want %q", child.GetKind(), got, want)
					}
				}
			})
		}
	}
}

// What an earlier release recorded is read by every later one.
func TestReadRecordOfAnEarlierRelease(t *testing.T) {
	value, err := os.ReadFile("testdata/record/v1.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, err := yaml.Marshal(readRecord(t, strings.TrimSpace(string(value))))
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

func TestRecordChangesNoHash(t *testing.T) {
	hashOf := func(box *modelv1.ModelBox) string { return render.Hash(children(t, box)[0]) }
	box := recordedBox()
	labelled := recordedBox(func(box *modelv1.ModelBox) { box.Labels["team"] = "cart" })
	if record(t, box) == record(t, labelled) {
		t.Error("a label changed and the record did not")
	}
	if before, after := hashOf(box), hashOf(labelled); before != after {
		t.Errorf("a label of the box changed the hash from %s to %s", before, after)
	}
}

// noise is text that cannot be compressed.
func noise(bytes int) string {
	random := rand.NewChaCha8([32]byte{1})
	data := make([]byte, bytes)
	_, _ = random.Read(data)
	return base64.RawStdEncoding.EncodeToString(data)[:bytes]
}

// binaryNoise cannot be compressed at all.
func binaryNoise(bytes int) string {
	random := rand.NewChaCha8([32]byte{2})
	data := make([]byte, bytes)
	_, _ = random.Read(data)
	return string(data)
}

// largestSpecBytes is how large a spec the API accepts.
const largestSpecBytes = 96 << 10

func TestRecordAlwaysFits(t *testing.T) {
	for _, row := range []struct {
		name string
		spec func(*modelv1.ModelBoxSpec)
	}{
		{"a spec of noise", func(spec *modelv1.ModelBoxSpec) { spec.Args = []string{binaryNoise(largestSpecBytes)} }},
		{"a spec of annotations of noise", func(spec *modelv1.ModelBoxSpec) {
			spec.Annotations = map[string]string{"noise": noise(largestSpecBytes)}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := recordedBox(func(box *modelv1.ModelBox) {
				box.Namespace, box.Name = strings.Repeat("n", 63), strings.Repeat("b", 63)
				box.Annotations["large"] = noise(200 << 10)
				row.spec(&box.Spec)
			})
			read := readRecord(t, record(t, box))
			if !apiequality.Semantic.DeepEqual(box.Spec, read.Spec) || read.UID != box.UID {
				t.Error("the record has another spec or UID")
			}
			size := 0
			for key, value := range children(t, box)[0].GetAnnotations() {
				size += len(key) + len(value)
			}
			const leftToOthers = 16 << 10
			if limit := apivalidation.TotalAnnotationSizeLimitB - leftToOthers; size > limit+100 {
				t.Errorf("the annotations have %d bytes, want at most %d", size, limit)
			}
		})
	}
}

func TestRecordLeavesOutWhatDoesNotFit(t *testing.T) {
	const much = 300 << 10
	manyLabels, manyOwners, manyFinalizers := map[string]string{}, []metav1.OwnerReference{}, []string{}
	for i, all := 0, noise(6000*60); i < 6000; i++ {
		text := all[60*i : 60*(i+1)]
		manyLabels[text] = text
		manyOwners = append(manyOwners, metav1.OwnerReference{Name: text})
		manyFinalizers = append(manyFinalizers, text)
	}
	type parts struct{ LastApplied, Note, Labels, Owners, Finalizers bool }
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
		want   parts
	}{
		{"nothing where everything fits", func(*modelv1.ModelBox) {}, parts{true, true, true, true, true}},
		{"what kubectl applied", func(box *modelv1.ModelBox) { box.Annotations[corev1.LastAppliedConfigAnnotation] = binaryNoise(much) },
			parts{false, true, true, true, true}},
		{"all annotations", func(box *modelv1.ModelBox) { box.Annotations["large"] = binaryNoise(much) }, parts{false, false, true, true, true}},
		{"the labels", func(box *modelv1.ModelBox) { box.Labels = manyLabels }, parts{false, false, false, true, true}},
		{"the owners", func(box *modelv1.ModelBox) { box.OwnerReferences = manyOwners }, parts{false, false, false, false, true}},
		{"the finalizers", func(box *modelv1.ModelBox) { box.Finalizers = manyFinalizers }, parts{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := recordedBox(row.change)
			read := readRecord(t, record(t, box))
			_, lastApplied := read.Annotations[corev1.LastAppliedConfigAnnotation]
			_, note := read.Annotations["note"]
			got := parts{lastApplied, note, len(read.Labels) > 0, len(read.OwnerReferences) > 0, len(read.Finalizers) > 0}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if read.UID != box.UID || read.Spec.Image != box.Spec.Image {
				t.Error("the record has another UID or image")
			}
		})
	}
}

func TestRecordOfASpecThatAnEarlierReleaseAccepted(t *testing.T) {
	box := recordedBox(func(box *modelv1.ModelBox) { box.Spec.Args = []string{binaryNoise(500 << 10)} })
	if _, err := Record(box); err != render.ErrRecordTooLarge {
		t.Errorf("got error %v, want render.ErrRecordTooLarge", err)
	}
	if value, ok := children(t, box)[0].GetAnnotations()[modelv1.RecordAnnotation]; ok {
		t.Errorf("the Deployment has a record of %d bytes", len(value))
	}
}

func BenchmarkRender(b *testing.B) {
	box := recordedBox(func(box *modelv1.ModelBox) {
		box.Spec.Ports = []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(80), Protocol: corev1.ProtocolTCP}}
		for i := range 20 {
			box.Spec.Envs = append(box.Spec.Envs, corev1.EnvVar{Name: fmt.Sprintf("OPTION_%d", i), Value: "on"})
		}
	})
	b.Run("Children", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Children(box, ScaledByBox); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Record", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Record(box); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ReadRecord", func(b *testing.B) {
		value, err := Record(box)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(value)), "record-B")
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ReadRecord(value); err != nil {
				b.Fatal(err)
			}
		}
	})
}
