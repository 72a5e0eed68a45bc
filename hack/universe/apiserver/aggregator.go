// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// Aggregate returns a handler for the requests of both servers. Its list of groups has the groups of both, as with kube-aggregator.
func Aggregate(kubernetes, modelBox http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch {
		case req.URL.Path == "/apis":
			groups, err := groupsOf(kubernetes, modelBox)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(groups)
		case strings.HasPrefix(req.URL.Path, "/apis/"+model.GroupName):
			modelBox.ServeHTTP(w, req)
		default:
			kubernetes.ServeHTTP(w, req)
		}
	})
}

func groupsOf(servers ...http.Handler) ([]byte, error) {
	all := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}}
	for _, server := range servers {
		req := httptest.NewRequest(http.MethodGet, "/apis", nil)
		req.Header.Set("Accept", "application/json")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, req)
		var groups metav1.APIGroupList
		if err := json.NewDecoder(bytes.NewReader(w.Body.Bytes())).Decode(&groups); err != nil {
			return nil, fmt.Errorf("reading the list of groups: %w", err)
		}
		all.Groups = append(all.Groups, groups.Groups...)
	}
	return json.Marshal(all)
}
