// Clients on the retry libraries of npm: the errand of stacks.py, called in the same way.

import {createInterface} from 'node:readline';
import {randomUUID} from 'node:crypto';
import axios from 'axios';
import axiosRetry from 'axios-retry';
import got from 'got';
import {Agent, RetryAgent, request} from 'undici';

const speed = Number(process.env.SPEED);
const remedies = JSON.parse(process.env.REMEDIES);
const realTimeout = globalThis.setTimeout;
const limit = 2000;
const retryable = [429, 500, 503];
globalThis.setTimeout = (act, ms, ...rest) => realTimeout(act, ms === limit ? ms : ms / speed, ...rest);
const pause = seconds => new Promise(resolve => setTimeout(resolve, seconds * 1000));
const [library] = process.argv.slice(2);

// What a remedy says of a library, as far as its first semicolon.
const named = (name, names) => new Function(...Object.keys(names), `return (${remedies[name].split('; ')[0]})`)(...Object.values(names));
const options = name => Object.values(new Function(`return ({${remedies[name].split('; ')[0]}})`)())[0];
const agent = name => ({'User-Agent': name});
const kind = body => Buffer.isBuffer(body) ? {body} : body ? {json: body} : {};

const libraries = {
  got: () => {
    const retry = options('got');
    return async (method, url, body, headers) => {
      const answer = await got(url, {
        method, ...kind(body), headers, retry, timeout: {request: limit}, throwHttpErrors: false, responseType: 'buffer',
      });
      return {status: answer.statusCode, headers: new Headers(Object.entries(answer.headers).filter(([, v]) => typeof v === 'string')), body: answer.rawBody};
    };
  },
  'axios-retry': () => {
    const client = axios.create({timeout: limit, responseType: 'arraybuffer', validateStatus: status => !retryable.includes(status), headers: agent('axios/1')});
    named('axios', {axiosRetry, axios: client});
    return async (method, url, body, headers) => {
      const answer = await client.request({method, url, data: body, headers}).catch(error => { if (error.response) return error.response; throw error; });
      return {status: answer.status, headers: new Headers(Object.entries(answer.headers)), body: Buffer.from(answer.data)};
    };
  },
  undici: () => {
    // Its own clock counts the ticks of setTimeout, and so runs as fast: in real time, the limit is that of the others.
    const plain = new Agent({headersTimeout: limit * speed, bodyTimeout: limit * speed});
    const dispatcher = named('undici', {RetryAgent, agent: plain});
    return async (method, url, body, headers) => {
      const answer = await request(url, {
        dispatcher, method, headers: {...headers, ...agent('undici'), ...(body && !Buffer.isBuffer(body) ? {'Content-Type': 'application/json'} : {})},
        body: Buffer.isBuffer(body) || !body ? body : JSON.stringify(body),
      }).catch(error => { if (error.statusCode) return {statusCode: error.statusCode, headers: error.headers ?? {}, body: {arrayBuffer: () => new ArrayBuffer(0)}}; throw error; });
      return {status: answer.statusCode, headers: new Headers(Object.entries(answer.headers)), body: Buffer.from(await answer.body.arrayBuffer())};
    };
  },
};

class Stop extends Error {}

async function errand(send, baseUrl, key) {
  const persist = async (method, url, body, headers, isJson = true) => {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        const answer = await send(method, url, body, headers);
        if (answer.status >= 400) throw new Stop(`${answer.status} ${url}`);
        if (isJson) answer.json = JSON.parse(answer.body);
        return answer;
      } catch (error) {
        if (error instanceof Stop) throw error;
        await pause((1 + Math.random()) * 4 * 2 ** attempt);
      }
    }
    throw new Stop(`lost ${url}`);
  };
  const authorization = {Authorization: `Bearer ${key}`};
  const ask = async (method, path, body) => {
    const headers = method === 'GET' ? authorization : {...authorization, 'Idempotency-Key': randomUUID()};
    return (await persist(method, baseUrl + path, body, headers)).json;
  };
  await ask('GET', '/team');
  const photo = Buffer.from(process.env.PHOTO, 'hex');
  const opened = await ask('POST', '/uploads', {content_type: 'image/png', size_bytes: photo.length});
  const token = (await persist(opened.upload.method, opened.upload.url, photo, opened.upload.headers)).json.upload_token;
  const asset = (await ask('POST', `/uploads/${opened.id}/complete`, {upload_token: token})).id;
  const work = await ask('POST', '/generations/upscale', {asset_id: asset, target_resolution: '2k', output_format: 'png'});
  let look;
  for (let polls = 0; polls < 60; polls++) {
    look = await persist('GET', `${baseUrl}/generations/${work.id}`, undefined, authorization);
    if (['completed', 'failed'].includes(look.json.status)) break;
    await pause(Number(look.headers.get('retry-after') ?? 2));
  }
  for (const output of look.json.outputs) {
    if (output.asset) await persist('GET', (await ask('GET', `/assets/${output.asset.id}`)).url, undefined, {}, false);
  }
}

for await (const line of createInterface({input: process.stdin})) {
  try {
    await errand(libraries[library](), ...line.split(' '));
    console.log('done');
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    console.log(`stopped ${error.message}`);
  }
}
process.exit(0);
