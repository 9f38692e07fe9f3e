import tabs from '../tabs.ts';

export default tabs;
