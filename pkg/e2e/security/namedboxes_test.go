// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestPermissionsForNamedBoxes checks that a permission with resourceNames is for these boxes only, that a permission on all boxes
// of a namespace is for each of them, and that both end with their removal.
func TestPermissionsForNamedBoxes(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("mine"))
	n.CreateReadyBox(framework.NewBox("theirs"))
	n.Grant("all", rbacv1.PolicyRule{
		Verbs: []string{"get", "patch"}, APIGroups: []string{modelv1.GroupName}, Resources: []string{"modelboxes"},
	})
	n.Kubectl.Run("create", "role", "named", "--verb=get,patch", "--resource=modelboxes.model.github.com", "--resource-name=mine")
	n.Kubectl.Run("create", "rolebinding", "named", "--role=named", "--user=named")
	n.Kubectl.AwaitAllowed("named", "patch modelboxes.model.github.com/mine")

	requests := map[string]func(user, box string) error{
		"get": func(user, box string) error {
			_, err := n.BoxesAs(user).Get(n.Ctx, box, metav1.GetOptions{})
			return err
		},
		"patch": func(user, box string) error {
			patch := []byte(`{"metadata":{"labels":{"changed-by":"` + user + `"}}}`)
			_, err := n.BoxesAs(user).Patch(n.Ctx, box, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		},
		"delete": func(user, box string) error {
			return n.BoxesAs(user).Delete(n.Ctx, box, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		},
	}
	may := map[string]bool{
		"all get mine": true, "all get theirs": true, "all patch mine": true, "all patch theirs": true,
		"named get mine": true, "named patch mine": true,
	}
	for _, user := range []string{"all", "named", "stranger"} {
		for verb, request := range requests {
			for _, box := range []string{"mine", "theirs"} {
				what := user + " " + verb + " " + box
				if err := request(user, box); may[what] != (err == nil) || err != nil && !apierrors.IsForbidden(err) {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	}

	n.Kubectl.Run("delete", "rolebindings", "--all")
	for _, user := range []string{"all", "named"} {
		n.Eventually(user+" may no more", func() error {
			if err := requests["patch"](user, "mine"); !apierrors.IsForbidden(err) {
				return fmt.Errorf("the response is %v", err)
			}
			return nil
		})
	}
}
