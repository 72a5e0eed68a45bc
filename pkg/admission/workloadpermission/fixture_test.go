// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// newBox returns the box of that spec, defaulted.
func newBox(t testing.TB, spec string, changes ...func(*model.ModelBox)) *model.ModelBox {
	t.Helper()
	served := &modelv1.ModelBox{}
	manifest := fmt.Sprintf("{metadata: {name: web, namespace: default}, spec: {image: 'nginx:1.7.9', %s}}", spec)
	if err := yaml.UnmarshalStrict([]byte(manifest), served); err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	modelv1.SetObjectDefaults_ModelBox(served)
	box := &model.ModelBox{}
	if err := modelv1.Convert_v1_ModelBox_To_model_ModelBox(served, box, nil); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(box)
	}
	return box
}

func adopting(box *model.ModelBox) {
	box.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"}
}

// permissions grants what it says, and takes note of what it is asked for.
type permissions struct {
	granted map[string]bool
	err     error
	asked   []string
}

func (p *permissions) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	resource := a.GetResource()
	if subresource := a.GetSubresource(); subresource != "" {
		resource += "/" + subresource
	}
	question := fmt.Sprintf("%s: %s %s.%s/%s in %s", a.GetUser().GetName(), a.GetVerb(), resource, a.GetAPIGroup(), a.GetName(), a.GetNamespace())
	p.asked = append(p.asked, question)
	if p.err != nil {
		return authorizer.DecisionNoOpinion, "", p.err
	}
	if p.granted[question] {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// All permissions that the plugin knows.
const (
	createDeployments  = "jane: create deployments.apps/ in default"
	createStatefulSets = "jane: create statefulsets.apps/ in default"
	createDaemonSets   = "jane: create daemonsets.apps/ in default"
	createServices     = "jane: create services./ in default"
	updateDeployment   = "jane: update deployments.apps/web in default"
	updateCandidate    = "jane: update deployments.apps/web-canary in default"
	deleteCandidate    = "jane: delete deployments.apps/web-canary in default"
	deleteDeployment   = "jane: delete deployments.apps/web in default"
	updateService      = "jane: update services./web in default"
	deleteService      = "jane: delete services./web in default"
	createConfigMaps   = "jane: create configmaps./ in default"
	updateConfigMap    = "jane: update configmaps./web-a in default"
	deleteConfigMap    = "jane: delete configmaps./web-a in default"
	createIngresses    = "jane: create ingresses.networking.k8s.io/ in default"
	createHTTPRoutes   = "jane: create httproutes.gateway.networking.k8s.io/ in default"
	createGRPCRoutes   = "jane: create grpcroutes.gateway.networking.k8s.io/ in default"
	createClaims       = "jane: create persistentvolumeclaims./ in default"
	updateClaim        = "jane: update persistentvolumeclaims./web-a in default"
	deleteClaim        = "jane: delete persistentvolumeclaims./web-a in default"

	createJobs        = "jane: create jobs.batch/ in default"
	createAutoscalers = "jane: create horizontalpodautoscalers.autoscaling/ in default"
	updateAutoscaler  = "jane: update horizontalpodautoscalers.autoscaling/web in default"
	deleteAutoscaler  = "jane: delete horizontalpodautoscalers.autoscaling/web in default"
	createBudgets     = "jane: create poddisruptionbudgets.policy/ in default"
	updateBudget      = "jane: update poddisruptionbudgets.policy/web in default"
	deleteBudget      = "jane: delete poddisruptionbudgets.policy/web in default"
)

// validate lets jane write the box, which creates it where there is no old one.
func validate(t testing.TB, permissions *permissions, box, old *model.ModelBox, subresource string) error {
	t.Helper()
	plugin := newPlugin()
	plugin.SetUnconditionalAuthorizer(permissions)
	if err := plugin.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	operation, before := admission.Create, runtime.Object(nil)
	if old != nil {
		operation, before = admission.Update, old
	}
	return plugin.Validate(t.Context(), admission.NewAttributesRecord(box, before,
		modelv1.SchemeGroupVersion.WithKind("ModelBox"), box.Namespace, box.Name,
		modelv1.SchemeGroupVersion.WithResource("modelboxes"), subresource, operation, nil, false, &user.DefaultInfo{Name: "jane"}), nil)
}
