// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// recordVariable is the environment variable with the directory for the stored and written objects of this release.
const recordVariable = "MODELBOX_E2E_RECORD_RELEASE"

// TestRecordRelease writes the objects that later releases must read and must not change: stored and served objects, and their
// children.
func TestRecordRelease(t *testing.T) {
	folder := os.Getenv(recordVariable)
	if folder == "" {
		t.Skip(recordVariable + " is not set")
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, framework.Binary("modelbox-apiserver"))
	c.sync() // what the status has put off is written with this
	client := c.etcdClient()
	for _, object := range c.list(kinds...) {
		file := strings.ToLower(object.GetKind()) + "." + object.GetName()
		write(t, filepath.Join(folder, "stored", file+".pb"), c.stored(client, object))
		writeYAML(t, filepath.Join(folder, "served", file+".yaml"), object)
	}
	for _, child := range c.list(childKinds...) {
		if len(child.GetOwnerReferences()) > 0 && strings.HasPrefix(child.GetOwnerReferences()[0].APIVersion, kinds[0].Group+"/") {
			writeYAML(t, filepath.Join(folder, "children", strings.ToLower(child.GetKind())+"."+child.GetName()+".yaml"), child)
		}
	}
}

func writeYAML(t *testing.T, file string, object *unstructured.Unstructured) {
	t.Helper()
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, data)
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
