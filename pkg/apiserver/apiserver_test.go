// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/compatibility"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
)

// TestRequestRendersBoxOnce sends two requests, each of which looks twice at a box.
func TestRequestRendersBoxOnce(t *testing.T) {
	generic := genericapiserver.NewRecommendedConfig(Codecs)
	generic.EffectiveVersion = compatibility.NewEffectiveVersionFromString("1.0", "", "")
	generic.ExternalAddress = "localhost:443"
	generic.BuildHandlerChainFunc = func(handler http.Handler, _ *genericapiserver.Config) http.Handler { return handler }
	(&Config{GenericConfig: generic}).Complete()

	templates := map[any]int{}
	handler := generic.BuildHandlerChainFunc(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		for range 2 {
			template, err := boxview.PodTemplate(req.Context(), &model.ModelBox{
				ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: model.ModelBoxSpec{Name: "web", Image: "nginx:1.7.9"},
			})
			if err != nil {
				t.Error(err)
			}
			templates[template]++
		}
	}), &generic.Config)
	for range 2 {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	}
	if len(templates) != 2 {
		t.Errorf("two requests with a box have rendered it %d times, want 2", len(templates))
	}
}
